/**
 * How an account writes the amounts of outflows: as magnitudes, like all others, or negative (§16.26).
 */
export const AMOUNT_SIGNS = ['magnitude', 'signed'] as const

/** The setting of an account. */
export type AmountSigns = (typeof AMOUNT_SIGNS)[number]

/** The types of transactions by which money leaves. Of events, the definition tells it. */
export const OUTFLOWS = ['withdrawal', 'payout', 'refund'] as const

/** The types of transactions whose amounts may have either sign. */
const EITHER_SIGN: readonly string[] = ['adjustment', 'bonus', 'other']

/** Whether money leaves with transactions of a type. */
export const isOutflow = (type: string): boolean => OUTFLOWS.some((one) => one === type)

/** The sign that amounts are expected to have; null: either. */
export type ExpectedSign = 'positive' | 'negative' | null

const signOfOutflows = (signs: AmountSigns): ExpectedSign =>
  signs === 'signed' ? 'negative' : 'positive'

/** Returns the sign that the amounts of transactions of a type are expected to have. */
export function expectedSign(type: string, signs: AmountSigns): ExpectedSign {
  if (EITHER_SIGN.includes(type)) return null
  return isOutflow(type) ? signOfOutflows(signs) : 'positive'
}

/** Returns the sign that the `Value` of an event is expected to have: any, unless it is an outflow. */
export const expectedEventSign = (outflow: boolean, signs: AmountSigns): ExpectedSign =>
  outflow ? signOfOutflows(signs) : null
