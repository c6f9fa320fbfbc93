import type { Kind, Vertical } from './kind.ts'
import { activityOutlier } from './kinds/activity-outlier.ts'
import { clickToSignup } from './kinds/click-to-signup.ts'
import { commissionOverRevenue } from './kinds/commission-over-revenue.ts'
import { countryMix } from './kinds/country-mix.ts'
import { depositWithdrawal } from './kinds/deposit-withdrawal.ts'
import { drawdownBreach } from './kinds/drawdown-breach.ts'
import { hedgePair } from './kinds/hedge-pair.ts'
import { lotChurn } from './kinds/lot-churn.ts'
import { minimumDeposit } from './kinds/minimum-deposit.ts'
import { payoutWithoutTrading } from './kinds/payout-without-trading.ts'
import { resets } from './kinds/resets.ts'
import { reversals } from './kinds/reversals.ts'
import { sharedIdentity } from './kinds/shared-identity.ts'
import { sharedPayee } from './kinds/shared-payee.ts'
import { shortLife } from './kinds/short-life.ts'
import { signupBurst } from './kinds/signup-burst.ts'

/** All kinds of fraud rules, in the order of the contract (§17). */
export const KINDS: readonly Kind[] = [
  sharedIdentity,
  sharedPayee,
  clickToSignup,
  signupBurst,
  countryMix,
  minimumDeposit,
  shortLife,
  depositWithdrawal,
  reversals,
  resets,
  hedgePair,
  drawdownBreach,
  payoutWithoutTrading,
  activityOutlier,
  lotChurn,
  commissionOverRevenue,
]

/** Returns the kinds that the accounts of a vertical can have. */
export const kindsOf = (vertical: Vertical): readonly Kind[] =>
  KINDS.filter(({ verticals }) => verticals.includes(vertical))
