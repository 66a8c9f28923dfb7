/** Where a model on this machine is, and the library that runs it. */
export interface ModelPlace {
  /** The file of `@huggingface/transformers`. */
  readonly library: string;
  /** As on the model hub: `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** The folder that contains the model's files in a subfolder named `model`. */
  readonly folder: string;
  /** The address from which a missing model is downloaded; undefined if that is not allowed. */
  readonly download: string | undefined;
}
