import {
  getStatement,
  listFilters,
  listStatements,
  partOf,
  readStatement,
  readStatements,
  STATEMENT_COLUMNS,
  statementCells,
} from '../../commission/operations/statements.ts'
import { listedStatement, statementInFull } from '../../commission/shapes/statements.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { described, withMembers } from '../../platform/validation/described.ts'
import { readMoney, statementMoney } from './money.ts'

// The statements of an affiliate, each with where its money is.

const ofStatements = { of: 'affiliate', topic: 'affiliate-api' } as const

const { affiliate_id: _, ...filters } = listFilters

const COLUMNS = [...STATEMENT_COLUMNS, 'money']

/** Adds to statements where their money is. */
async function withMoney<S extends { readonly id: string }>(
  call: Call<'affiliate'>,
  statements: readonly S[],
) {
  const ids = statements.map(({ id }) => id)
  const found = await readMoney(call, ids)
  return statements.map((one) => {
    const own = found.find(({ statement }) => statement === one.id)
    if (!own) return { ...one, money: null }
    const { statement, plan, period, currency, ...money } = own
    return { ...one, money }
  })
}

export const listAffiliateStatements = list({
  ...ofStatements,
  id: 'listAffiliateStatements',
  path: '/statements',
  params: filters,
  files: asCsv('statements', COLUMNS, statementCells),
  words: described(() => ({
    description: `${listStatements.words?.description} Each has where its money is.`,
    answer: withMembers(listedStatement, { money: statementMoney }),
    files: csvWords(COLUMNS),
    errors: ['validation_failed'],
  })),
  async list(call, filter, page) {
    const found = await readStatements(call, filter, page)
    return { ...found, data: await withMoney(call, found.data) }
  },
})

export const getAffiliateStatement = operation({
  ...ofStatements,
  id: 'getAffiliateStatement',
  method: 'GET',
  path: '/statements/{statement_id}',
  params: partOf,
  files: getStatement.files ?? {},
  words: described(() => ({
    description: `${getStatement.words?.description} It has where its money is.`,
    answer: withMembers(statementInFull, { money: statementMoney }),
    files: getStatement.words?.files ?? {},
    errors: ['not_found'],
  })),
  async run(call, input) {
    const [found] = await withMoney(call, [await readStatement(call, input)])
    return found as NonNullable<typeof found>
  },
})
