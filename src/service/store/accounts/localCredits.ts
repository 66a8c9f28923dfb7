import { LOCAL_ACCOUNT } from './accounts.ts';
import type { CreditLedger } from './credits.ts';

/** Where the credits of the account `local` come from. Other accounts get credits only by grants. */
export interface CreditPolicy {
  /** Initial micro-credits. */
  readonly start: number;
  readonly isToppedUpDaily: boolean;
}

/** The reference of the first grant. */
const START = 'start';

/** Grants credits to the account `local` by a policy. Both methods expect the caller's transaction. */
export class LocalCredits {
  readonly #ledger: CreditLedger;
  readonly #policy: CreditPolicy;

  constructor(ledger: CreditLedger, policy: CreditPolicy) {
    this.#ledger = ledger;
    this.#policy = policy;
  }

  /** Grants the initial credits once, even if the policy changes later. */
  grantStart(at: number): void {
    const { start: amount, isToppedUpDaily } = this.#policy;
    if (isToppedUpDaily || this.#ledger.hasGrant(LOCAL_ACCOUNT, START)) return;
    this.#ledger.grant(LOCAL_ACCOUNT, { reference: START, amount, at });
  }

  isToppedUp(account: string): boolean {
    return account === LOCAL_ACCOUNT && this.#policy.isToppedUpDaily;
  }

  /** Practice credits: raises the balance once a day. */
  topUp(account: string, at: number): void {
    if (this.isToppedUp(account)) this.#ledger.topUp(account, this.#policy.start, at);
  }
}
