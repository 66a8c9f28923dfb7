/** What the promise is rejected with; fails when it is not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`Rejected with no error: ${String(error)}`, { cause: error });
  }
  throw new Error('Was not rejected.');
}
