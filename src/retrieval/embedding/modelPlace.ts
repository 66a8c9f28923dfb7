/** Where a model on this machine is, and what it needs. */
export interface ModelPlace {
  /** The file of `@huggingface/transformers`; undefined for a static model, which does not need it. */
  readonly library: string | undefined;
  /** As on the model hub: `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** The folder that contains the model's files in a subfolder named `model`. */
  readonly folder: string;
  /** The address from which a missing model is downloaded; undefined if that is not allowed. */
  readonly download: string | undefined;
}
