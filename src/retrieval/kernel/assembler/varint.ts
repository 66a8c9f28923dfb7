import { type Code, increase, isLess, type Local, or, repeatWhile, set, shiftRight, store8 } from './webAssembly.ts';

/** Writes a number, which it changes, in seven bits a byte, the lowest first; `to` becomes the end of that. */
export function writeVarint(to: Local, rest: Local): Code {
  return [
    repeatWhile(isLess(127, rest), store8(to, or(rest, 128)), set(rest, shiftRight(rest, 7)), increase(to, 1)),
    store8(to, rest),
    increase(to, 1),
  ];
}
