import { importAffiliates } from '../affiliates.ts'
import type { Command } from '../command.ts'
import { fields, rows } from '../show.ts'
import { list } from './parts.ts'

/** Who may be paid for customers of an account. */
export const AFFILIATES: readonly Command[] = [
  list({
    noun: 'affiliates',
    verb: 'list',
    about: 'who may be paid, each with its parent',
    path: 'accounts/ACCOUNT/affiliates',
    show: rows(),
  }),
  {
    noun: 'affiliates',
    verb: 'import',
    about: 'sets those of a file: affiliate_id,parent',
    method: 'PUT',
    path: 'accounts/ACCOUNT/affiliates',
    operand: 'FILE.csv',
    run: importAffiliates,
    show: fields,
  },
  {
    noun: 'affiliates',
    verb: 'unconfigured',
    about: 'ids that customers name and nobody configured',
    method: 'GET',
    path: 'accounts/ACCOUNT/affiliates/unconfigured',
    show: rows(),
  },
]
