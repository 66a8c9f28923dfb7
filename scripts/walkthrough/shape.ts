/** A shape of a drawing, in pixels of the window, with an attribute `fill` that follows the theme. */
export interface Shape {
  readonly tag: 'rect' | 'text' | 'path' | 'image';
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly text?: string;
}
