import { LOCAL_ACCOUNT } from './accounts.ts';
import type { CreditLedger } from './credits.ts';

/** What becomes of the credits of the account `local`; those of others come from grants alone. */
export interface CreditPolicy {
  /** Micro-credits to begin with. */
  readonly start: number;
  readonly isToppedUpDaily: boolean;
}

/** The reference of the first grant. */
const START = 'start';

/** Gives the account `local` its credits by a policy. Both methods expect the caller's transaction. */
export class LocalCredits {
  readonly #ledger: CreditLedger;
  readonly #policy: CreditPolicy;

  constructor(ledger: CreditLedger, policy: CreditPolicy) {
    this.#ledger = ledger;
    this.#policy = policy;
  }

  /** The first credits, whatever they are today: an account that has had some keeps what it has. */
  grantStart(at: number): void {
    const { start: amount, isToppedUpDaily } = this.#policy;
    if (isToppedUpDaily || this.#ledger.hasGrant(LOCAL_ACCOUNT, START)) return;
    this.#ledger.grant(LOCAL_ACCOUNT, { reference: START, amount, at });
  }

  isToppedUp(account: string): boolean {
    return account === LOCAL_ACCOUNT && this.#policy.isToppedUpDaily;
  }

  /** Practice credits: fills the account up once a day. */
  topUp(account: string, at: number): void {
    if (this.isToppedUp(account)) this.#ledger.topUp(account, this.#policy.start, at);
  }
}
