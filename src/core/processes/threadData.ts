import { workerData } from 'node:worker_threads';

/** What the program that started this thread passed to it. It is not checked, because both are parts of the same build. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function threadData<T>(): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return workerData as T;
}
