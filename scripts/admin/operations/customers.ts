import { list, object } from '../format.ts'
import type { Operation } from '../operation.ts'
import { replayErasures } from '../replay-erasures.ts'
import { HISTORIES } from './histories.ts'
import { DAYS, listOperation } from './parts.ts'

const ATTRIBUTION = ['verdict', 'link_id', 'affiliate_id', 'affiliate_configured']
const OCTOBER = '--from 2026-10-01 --to 2026-10-31'

/** Customers: attribution, what is known of them by day, and erasure. */
export const CUSTOMERS: readonly Operation[] = [
  listOperation({
    noun: 'customers',
    verb: 'list',
    summary: 'Lists customers with their attribution.',
    example: 'acme --limit 20',
    path: 'accounts/{account}/customers',
    options: {
      customer: { value: 'id', description: 'Only this customer.', member: 'customer_id' },
    },
    format: list(['customer_id', 'day', ...ATTRIBUTION.map((name) => `attribution.${name}`)]),
  }),
  listOperation(
    {
      noun: 'customers',
      verb: 'unattributed',
      summary: 'Lists customers without an affiliate, by the day of their signup.',
      example: `acme ${OCTOBER}`,
      path: 'accounts/{account}/customers',
      options: DAYS,
      format: list(['customer_id', 'day', 'attribution.verdict']),
    },
    { unattributed: 'true' },
  ),
  {
    noun: 'customers',
    verb: 'erase',
    summary: 'Erases the personal data of a customer, also if it is sent again.',
    example: 'acme C-1001',
    method: 'DELETE',
    path: 'accounts/{account}/customers/personal-data',
    argument: 'customer_id',
    isArgumentInQuery: true,
    format: object,
    confirmation: ({ operands: { account, customer_id = '' } }) => ({
      warning: `This erases the personal data of customer ${customer_id} of account ${account} permanently.`,
      name: customer_id,
    }),
  },
  {
    noun: 'customers',
    verb: 'lines',
    summary: 'Lists the lines of statements that count records of a customer.',
    example: 'acme C-1001 --period 2026-10',
    method: 'GET',
    path: 'accounts/{account}/customers/{customer_id}/lines',
    options: { period: { value: 'period', description: 'A month or a week.', required: true } },
    format: list(),
  },
  listOperation({
    noun: 'customers',
    verb: 'records',
    summary: 'Lists stored records, of one customer or of all.',
    example: 'acme transactions --customer C-1001',
    path: 'accounts/{account}/records/{resource}',
    choices: { resource: ['customers', 'transactions', 'trading-activity', 'activities'] },
    options: {
      customer: { value: 'id', description: 'Only this customer.', member: 'customer_id' },
    },
    format: list(),
  }),
  ...HISTORIES,
  {
    noun: 'attribution',
    summary: 'Counts the customers of each day by attribution.',
    example: `acme ${OCTOBER}`,
    method: 'GET',
    path: 'accounts/{account}/attribution',
    options: DAYS,
    format: list(),
  },
  {
    noun: 'clicks',
    summary: 'Counts the visitors of each day by link.',
    example: `acme ${OCTOBER}`,
    method: 'GET',
    path: 'accounts/{account}/clicks',
    options: DAYS,
    format: list(),
  },
  listOperation({
    noun: 'erasures',
    verb: 'list',
    summary: 'Lists the customers whose personal data was erased.',
    example: 'acme',
    path: 'accounts/{account}/erasures',
    format: list(),
  }),
  {
    noun: 'erasures',
    verb: 'replay',
    summary: 'Repeats all erasures after a database was restored.',
    example: '--account acme',
    method: 'POST',
    path: 'erasures/replay',
    options: {
      account: { value: 'account', description: 'Only this account.' },
      from: {
        value: 'cursor',
        description: 'Continues a replay that was interrupted.',
        member: 'cursor',
      },
    },
    run: replayErasures,
    format: object,
  },
]
