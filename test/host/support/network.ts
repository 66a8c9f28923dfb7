/** What the suite behind a proxy knows about its network. */
export interface Network {
  readonly url: string;
  readonly key: string;
  /** Where the service really listens, which only a proxy knows. */
  readonly place: { readonly host: string; readonly port: number };
  /** Where a proxy was. */
  readonly dead: string;
}

export const NETWORK_VARIABLE = 'FARWHARF_TEST_NETWORK';
