import { partnerLesson } from './partner.ts'

/** The first lesson of a forex broker. */
export const forex = partnerLesson({
  transaction_type: 'deposit',
  misspelt: 'deposits',
  activity: {},
})
