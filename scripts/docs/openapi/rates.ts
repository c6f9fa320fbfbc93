import { MAX_LISTED, RATE_FILE_LIMITS } from '../../../src/commission/rates/parse-ecb.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { operation, returned } from './administration/operation.ts'
import { type Operation, ref } from './operation.ts'
import { COUNT, DAY } from './shapes.ts'

const source = documented('The source of the rates.', { const: 'ECB' })

/** The schemas of exchange rates. */
export const RATE_SCHEMAS: Record<string, JsonSchema> = {
  RateImport: object({
    source,
    first_day: documented('The first day of the file.', DAY),
    last_day: documented('The last day of the file.', DAY),
    created: documented('The number of rates that are new.', COUNT),
    unchanged: documented('The number of rates that were stored before.', COUNT),
    corrected: documented('The number of rates that replace stored ones.', COUNT),
    warnings: documented(
      '`partial_day`: the last day of the file is the latest with rates, and lacks those of currencies that had one in the 7 days before.',
      { type: 'array', items: ref('PlanWarning') },
    ),
  }),
}

const CSV: JsonSchema = {
  type: 'string',
  description: `The CSV of the European Central Bank: the header \`Date,USD,JPY,…\`, and a row for each day, both in any order. A rate is the units of the currency for one euro; blank or \`N/A\` means none. At most ${RATE_FILE_LIMITS.days} days and ${RATE_FILE_LIMITS.currencies} currencies, 6.5 MiB.`,
  examples: ['Date,USD,JPY\n2026-10-02,1.1684,186.75\n2026-10-01,1.1711,N/A\n'],
}

/** Lists the operations of the integrations team on exchange rates. */
export const rates = (): Operation[] => [
  operation({
    method: 'put',
    path: '/admin/v1/fx-rates',
    id: 'importFxRates',
    summary: 'Import exchange rates',
    description: `Stores the rates of a file, all or none. It is safe to repeat: stored rates stay as they are. If a rate is stored with another value, the file is refused, and the response names the first ${MAX_LISTED} of these rates. In a pointer, \`/rows/0\` is the first row below the header.`,
    parameters: ['correct'],
    body: { type: 'text/csv', schema: CSV },
    answers: returned('What was stored.', ref('RateImport')),
    errors: ['conflict', 'invalid_request'],
  }),
]
