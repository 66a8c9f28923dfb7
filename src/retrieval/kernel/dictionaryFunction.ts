import { writeVarint } from './assembler/varint.ts';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  I32,
  I64,
  increase,
  isLess,
  isZero,
  least,
  long,
  repeatWhile,
  set,
  shiftRight,
  subtract,
} from './assembler/webAssembly.ts';

/**
 * dictionary(last, lastSize, term, size, length, to): writes an entry as `DictionaryWriter` says, and gives its end; its term takes the
 * place of the last one then. It reads and writes up to eight bytes behind.
 */
export function dictionaryFunction(): ProgramFunction {
  const f = new ProgramFunction('dictionary');
  const { last, lastSize, term, size, length, to } = f.parameters('last', 'lastSize', 'term', 'size', 'length', 'to');
  const { most, shared, at, rest } = f.locals(I32, 'most', 'shared', 'at', 'rest');
  const { difference } = f.locals(I64, 'difference');
  const compare = set(difference, long.xor(long.load(add(last, shared)), long.load(add(term, shared))));
  return f.is(
    [
      set(most, least(size, lastSize)),
      compare,
      repeatWhile(and(isLess(shared, most), isZero(long.isNotZero(difference))), increase(shared, 8), compare),
      increase(shared, shiftRight(long.low(long.trailingZeros(difference)), 3)),
      set(shared, least(shared, most)),
      set(rest, shared),
      writeVarint(to, rest),
      set(rest, subtract(size, shared)),
      writeVarint(to, rest),
      set(at, shared),
      repeatWhile(
        isLess(at, size),
        long.store(add(to, subtract(at, shared)), long.load(add(term, at))),
        increase(at, 8),
      ),
      increase(to, subtract(size, shared)),
      set(rest, length),
      writeVarint(to, rest),
      set(at, 0),
      repeatWhile(isLess(at, size), long.store(add(last, at), long.load(add(term, at))), increase(at, 8)),
    ],
    to,
  );
}
