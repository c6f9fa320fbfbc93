import { readFileSync } from 'node:fs'
import { accountChange, affiliateViewFields } from '../../../src/admin/fields.ts'
import { messageOf, usageError } from '../../exit-error.ts'
import { bodyOf, optionsOf } from '../derived.ts'
import { object } from '../format.ts'
import type { Input, Operation } from '../operation.ts'

/** Returns the bytes of a file as a data URL, which the service checks. */
function dataUrlOf(file: string): string {
  try {
    return `data:;base64,${readFileSync(file).toString('base64')}`
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

function changeOf(input: Input): object {
  const change = bodyOf({ method: 'PATCH', body: accountChange }, input)
  return typeof change.logo === 'string' ? { ...change, logo: dataUrlOf(change.logo) } : change
}

const change = (operation: Pick<Operation, 'verb' | 'summary' | 'example' | 'body' | 'options'>) =>
  ({
    ...operation,
    noun: 'accounts',
    method: 'PATCH',
    path: 'accounts/{account}',
    format: object,
  }) satisfies Operation

/** Changes of accounts: a logo is a file, and what affiliates see is a part of its own. */
export const ACCOUNTS: readonly Operation[] = [
  change({
    verb: 'change',
    summary: 'Changes settings, for records that arrive later.',
    example: 'acme --unknown-customer hold',
    options: {
      ...optionsOf(accountChange),
      logo: {
        value: 'file',
        description:
          'An SVG or PNG image of at most 50 KB for the portal. An empty text removes it.',
      },
    },
    body: changeOf,
  }),
  change({
    verb: 'view',
    summary: 'Changes what affiliates see of their customers.',
    example: 'acme --customer-ids plain --amounts false',
    options: optionsOf(affiliateViewFields),
    body: (input) => ({
      affiliate_view: bodyOf({ method: 'PATCH', body: affiliateViewFields }, input),
    }),
  }),
]
