import { object } from '../format.ts'
import { importRates } from '../import-rates.ts'
import type { Operation } from '../operation.ts'

/** Exchange rates, by which the amounts of commissions are converted. */
export const RATES: readonly Operation[] = [
  {
    noun: 'fx',
    verb: 'import',
    summary: 'Imports exchange rates from a CSV file of the European Central Bank.',
    example: 'data/ecb-euro-reference-rates.csv',
    method: 'PUT',
    path: 'fx-rates',
    argument: 'file',
    options: {
      correct: {
        description: 'Replaces stored rates that differ. They are kept beside the new ones.',
      },
    },
    run: importRates,
    format: object,
  },
]
