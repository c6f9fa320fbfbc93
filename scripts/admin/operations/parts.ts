import { fetchPages } from '../client.ts'
import type { Operation, Options } from '../operation.ts'

const LIMIT: Options = {
  limit: {
    value: 'n',
    description: 'The first n items. (default: all pages)',
    pattern: /^[1-9]\d{0,8}$/,
  },
}

/** Defines an operation that returns all pages of a list. `fixed` is part of each query. */
export const listOperation = (
  operation: Omit<Operation, 'method' | 'run'>,
  fixed: Readonly<Record<string, string>> = {},
): Operation => ({
  ...operation,
  method: 'GET',
  options: { ...operation.options, ...LIMIT },
  run(send, { query: { limit, ...query }, ...request }) {
    return fetchPages(
      send,
      { ...request, query: { ...fixed, ...query } },
      limit ? Number(limit) : Number.POSITIVE_INFINITY,
    )
  },
})
