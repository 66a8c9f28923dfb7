/** A series to plot, with its last values in words. */
export interface ShownPlot {
  readonly name: string;
  readonly text: string;
  /** What positions are: milliseconds since 1970, or steps of the job's own. */
  readonly axis: 'time' | 'step';
  /** In any order; a value that is null is a gap. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

/** All that the page shows; each replaces the one before. Texts are free of control characters. */
export interface ToJobPage {
  readonly type: 'page';
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly timeline: readonly string[];
  readonly plots: readonly ShownPlot[];
  /** How many metrics have no plot. */
  readonly otherMetrics: number;
  readonly results: string | null;
  readonly advice: string | null;
}
