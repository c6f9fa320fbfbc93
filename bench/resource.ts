import { forex } from '../src/trading/forex.ts'

/** The resource that the bench stores and reads. */
export const transactions = forex.resources.find(({ name }) => name === 'transactions')!
