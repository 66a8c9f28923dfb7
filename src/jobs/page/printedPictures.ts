import * as z from 'zod';
import { tryParseJson } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { pictureUrl, type ResultPreview } from '../browsing/previews.ts';
import { DataLines } from '../output/dataLines.ts';

const MOST_PICTURES = 6;
// About 200 KB of a picture: base64 takes a third more.
const MAX_LINE = 280_000;
const MAX_NAME = 100;

const printedPicture = z.object({ name: z.string().min(1).max(MAX_NAME), data: z.base64().min(1) });

/**
 * The pictures that a job prints while it runs, in lines such as `farwharf:picture {"name": "samples.png", "data": "iVBORw0…"}`. A later
 * picture replaces one with the same name, and the last six names are kept. Anything else is ignored.
 */
export class PrintedPictures {
  readonly #lines = new DataLines('picture', MAX_LINE);
  readonly #pictures = new Map<string, ResultPreview>();
  #count = 0;

  /** By name, in the order in which they were printed last. */
  get all(): readonly ResultPreview[] {
    return [...this.#pictures.values()];
  }

  /** How many were printed. */
  get count(): number {
    return this.#count;
  }

  /** Adds an event of the job, in order. */
  push(event: { readonly event: string; readonly data: unknown }): void {
    for (const line of this.#lines.push(event)) this.#add(line);
  }

  #add(line: string): void {
    const picture = printedPicture.safeParse(tryParseJson(line)).data;
    const data = picture && pictureUrl(picture.name, picture.data);
    if (picture === undefined || data === undefined) return;
    this.#count += 1;
    const name = printableLine(picture.name);
    this.#pictures.delete(name);
    this.#pictures.set(name, { type: 'picture', name, data });
    for (const oldest of [...this.#pictures.keys()].slice(0, -MOST_PICTURES)) this.#pictures.delete(oldest);
  }
}
