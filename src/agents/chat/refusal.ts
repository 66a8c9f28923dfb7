/** The model declined to answer. `refusal` is its own text. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError';
  readonly refusal: string;

  constructor(model: string, refusal: string) {
    super(`${model} declined to answer: ${refusal.replace(/\.$/, '')}. Change the prompt, or handle RefusalError.`);
    this.refusal = refusal;
  }
}
