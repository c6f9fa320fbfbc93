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
  {
    noun: 'fx',
    verb: 'show',
    summary: 'Shows the exchange rates that apply to a day.',
    example: '2026-04-12',
    method: 'GET',
    path: 'fx-rates',
    argument: 'day',
    isArgumentInQuery: true,
    format: object,
  },
]
