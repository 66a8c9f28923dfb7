import {
  add,
  and,
  I32,
  increase,
  isEqual,
  isLess,
  isNotZero,
  isZero,
  load8,
  or,
  ProgramFunction,
  repeatUntil,
  repeatWhile,
  set,
  store,
  subtract,
  trailingZeros,
  vector,
  when,
  type Code,
  type Local,
} from './webAssembly.ts';

const LANE_BYTES = 16;
const all = (sign: string): Code => vector.constant(Array.from({ length: LANE_BYTES }, () => sign.charCodeAt(0)));
const isSign = (address: Code, sign: string): Code => isEqual(load8(address), sign.charCodeAt(0));
const isAnyOf = (address: Code, signs: string): Code =>
  Array.from(signs, (sign) => isSign(address, sign)).reduce((left, right) => or(left, right));

/**
 * comments(text, end, places): writes where the first paragraph of each comment for tools begins and ends, by turns, and gives the end of
 * that; `summaries.ts` says what that is. It reads up to 18 bytes behind.
 */
export function commentsFunction(): ProgramFunction {
  const f = new ProgramFunction('comments');
  const { text, end, places } = f.parameters('text', 'end', 'places');
  const { found, next, isOver } = f.locals(I32, 'found', 'next', 'isOver');
  const isInText = (address: Local): Code => isLess(address, end);
  const skip = (address: Local, signs: string): Code =>
    repeatWhile(and(isInText(address), isAnyOf(address, signs)), increase(address, 1));
  const skipOne = (address: Local, sign: string): Code =>
    increase(address, and(isInText(address), isSign(address, sign)));
  const opening = Array.from('/**', (sign, at) => vector.isSame(vector.load(text, at), all(sign)));
  return f.is(
    [
      repeatWhile(
        isInText(text),
        set(found, vector.bits(opening.reduce((left, right) => vector.and(left, right)))),
        when(isZero(found), increase(text, LANE_BYTES)),
        when(
          isNotZero(found),
          increase(text, add(trailingZeros(found), opening.length)),
          skip(text, ' \t\r\n\v\f'),
          skipOne(text, '*'),
          skip(text, ' \t'),
          store(places, text),
          repeatUntil(
            isOver,
            set(isOver, or(isZero(isInText(text)), and(isSign(text, '*'), isSign(add(text, 1), '/')))),
            when(
              isSign(text, '\n'),
              set(next, add(text, 1)),
              skip(next, ' \t'),
              skipOne(next, '*'),
              skip(next, ' \t'),
              set(isOver, or(isOver, isAnyOf(next, '\n@'))),
            ),
            increase(text, isZero(isOver)),
          ),
          store(places, text, 4),
          increase(places, 8),
        ),
      ),
    ],
    places,
  );
}

/** quotes(text, end): whether three quotation marks of a kind lie side by side, as around a docstring. It reads up to 18 bytes behind. */
export function quotesFunction(): ProgramFunction {
  const f = new ProgramFunction('quotes');
  const { text, end } = f.parameters('text', 'end');
  const { found } = f.locals(I32, 'found');
  const triple = (sign: string): Code =>
    [0, 1, 2]
      .map((at) => vector.isSame(vector.load(text, at), all(sign)))
      .reduce((left, right) => vector.and(left, right));
  return f.is(
    [
      repeatWhile(
        isLess(text, end),
        set(found, vector.bits(vector.or(triple('"'), triple("'")))),
        when(
          isNotZero(found),
          set(found, isLess(add(text, add(trailingZeros(found), 2)), end)),
          set(text, subtract(end, 1)),
        ),
        increase(text, LANE_BYTES),
      ),
    ],
    found,
  );
}
