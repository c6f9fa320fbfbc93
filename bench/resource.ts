import { forex } from '../src/trading/forex.ts'

/** What all of the bench stores and reads. */
export const transactions = forex.resources.find(({ name }) => name === 'transactions')!
