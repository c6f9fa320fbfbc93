import { partnerLesson } from './partner.ts'

/** The first lesson of a prop trading firm. */
export const propTrading = partnerLesson({
  transaction_type: 'challenge_fee',
  misspelt: 'challenge-fee',
  activity: { pnl: 250.5 },
})
