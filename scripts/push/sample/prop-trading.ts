import { partnerSampleRun } from './partner.ts'

/** The sample run of a prop trading firm. */
export const propTrading = partnerSampleRun({
  transaction_type: 'challenge_fee',
  misspelled: 'challenge-fee',
  activity: { pnl: 250.5 },
})
