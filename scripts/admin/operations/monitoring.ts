import { OPERATIONS } from '../../operations.ts'
import { optionsOf } from '../derived.ts'
import type { Operation, Options } from '../operation.ts'
import { tail } from '../tail.ts'

const { resource, status } = OPERATIONS.find(({ id }) => id === 'listDeliveries')!.params

/** The options that narrow a list of deliveries. */
const FILTERS: Options = optionsOf({ resource: resource!, status: status! })

const INTERVAL: Options = {
  interval: {
    value: 'n',
    description: 'The seconds between two requests. (default: 2)',
    pattern: /^[1-9]\d{0,3}$/,
  },
}

/** What follows the log of deliveries. */
export const MONITORING: readonly Operation[] = [
  {
    noun: 'tail',
    summary: 'Follows the deliveries of an account as they come, with their errors.',
    example: 'acme --status refused',
    method: 'GET',
    path: 'accounts/{account}/deliveries',
    options: { ...FILTERS, ...INTERVAL },
    follow: (send, request, input, output, signal) =>
      tail(send, request, { ...input, filters: FILTERS }, output, signal),
    format: () => '',
  },
]
