import { partnerSampleRun } from './partner.ts'

/** The sample run of a forex broker. */
export const forex = partnerSampleRun({
  transaction_type: 'deposit',
  misspelled: 'deposits',
  activity: {},
})
