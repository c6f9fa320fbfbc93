import type { Child } from 'hono/jsx'
import { listQuestions } from '../../affiliates/operations/questions.ts'
import { transactionWord } from '../../commission/plans/plan-words.ts'
import { statementId, statementOfLine } from '../../commission/run/ids.ts'
import { getExplanation, listLineParts, listLineRecords } from '../../commission/why/operations.ts'
import type { Explained } from '../../commission/why/sentences.ts'
import type { Page, Visit } from '../../pages/base/page.ts'
import { Amount, amountText, Data, isolated, Pager, periodWords } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { AffiliateName } from '../../pages/parts/names.tsx'
import { Amounts } from '../../pages/parts/record-fields.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { type NumberCell, Table } from '../../pages/parts/table.tsx'
import { decimal } from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import { type Question, QuestionsBeside } from '../affiliates/questions.tsx'
import { readTerms } from '../records/reasons.tsx'
import { ExplanationView, Head, RuleInWords } from './explanation.tsx'

const NO_PARTS = <p class="note">No records.</p>

/** Returns the columns of what parts add to a line: an amount or units. Those that none has are left out. */
const partColumns = <Row extends { readonly base: string | null; readonly units: string | null }>(
  rows: readonly Row[],
  currency: string,
): Readonly<Record<string, NumberCell<Row> | false>> => ({
  Adds: rows.some(({ base }) => base !== null) && {
    number: ({ base }) => base !== null && <Amount value={base} currency={currency} />,
  },
  Units: rows.some(({ units }) => units !== null) && {
    number: ({ units }) => units !== null && <Amount value={units} />,
  },
})

/** Lines of another statement that a line is made from. */
interface Source {
  readonly statement: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly amount: string
  readonly currency: string
}

/** Returns the lines of other statements that a line is made from. */
const readSources = (explained: Explained): Promise<Source[]> =>
  Promise.all(
    stepsOf(explained)
      .flatMap((step): Omit<Source, 'statement'>[] => {
        if (step.step === 'funded') return [step]
        if (step.step !== 'sources') return []
        return step.sources.map((one) => ({ ...one, affiliate_id: step.affiliate_id }))
      })
      .map(async (one) => ({
        ...one,
        statement: await statementId(one.affiliate_id, one.plan, one.period),
      })),
  )

/** Returns how the line that is explained came about. */
const stepsOf = (explained: Explained) =>
  'of' in explained ? (explained.now?.steps ?? []) : explained.steps

/** Reads and renders what is behind a line: its customers, or the records of one of them. */
async function partsOf(visit: Visit, line_id: string, currency: string): Promise<Child> {
  const { api, account } = visit
  const { customer_id, ...query } = visit.query
  const ofLine = { account, line_id, ...query }
  if (customer_id) {
    const { data, meta } = await api.call(listLineRecords, { ...ofLine, customer_id })
    return (
      <>
        <p class="quick">
          <AccountLink at={['lines', visit.params.line_id ?? '']}>
            All customers of the line
          </AccountLink>
          <AccountLink at={['customers', visit.query.customer_id ?? '']}>
            Customer <Data text={visit.query.customer_id ?? ''} />
          </AccountLink>
        </p>
        <Table
          caption={`Records of ${isolated(visit.query.customer_id ?? '')} that the line counts`}
          rows={data}
          columns={{
            Record: (one) => (
              <RecordLink
                account={visit.account}
                record={{ ...one, customer_id: visit.query.customer_id ?? '' }}
              />
            ),
            Type: ({ type }) => type && <Data text={transactionWord(type)} />,
            Day: 'day',
            Amount: {
              number: ({ amounts, currency: own }) => <Amounts amounts={amounts} currency={own} />,
            },
            ...partColumns(data, currency),
            Delivery: ({ delivery_id: id }) =>
              id === null ? '–' : <AccountLink at={['deliveries', id]} children="Delivery" />,
          }}
          empty={NO_PARTS}
        />
        <Pager meta={meta} />
      </>
    )
  }
  const { data, meta } = await api.call(listLineParts, ofLine)
  return (
    <>
      <Table
        caption="Customers of the line, by the records as they are now. Select a number to list the records."
        rows={data}
        columns={{
          Customer: 'customer_id',
          ...partColumns(data, currency),
          Records: {
            number: ({ customer_id, records }) => (
              <AccountLink
                at={['lines', visit.params.line_id ?? '']}
                query={{ customer_id }}
                children={records}
              />
            ),
          },
        }}
        empty={NO_PARTS}
      />
      <Pager meta={meta} />
    </>
  )
}

/** Reads the questions of the affiliate about a line. */
async function readBeside(visit: Visit): Promise<readonly Question[]> {
  const { line_id: line = '' } = visit.params
  const statement = statementOfLine(line)
  if (statement === null) return []
  const { data } = await visit.api.call(listQuestions, { account: visit.account, statement })
  return data.filter((question) => question.line === line)
}

/** Reads and renders what is behind a line: its rule, and the records or other lines that it counts. */
async function behind(visit: Visit, explained: Explained): Promise<Child> {
  const { plan, currency } = explained
  const line = 'of' in explained ? explained.now?.line : explained.line
  const [termsOf, sources] = await Promise.all([
    readTerms(visit, line ? [{ ...line, plan }] : []),
    readSources(explained),
  ])
  const hasParts =
    visit.api.may(listLineParts) && sources.length === 0 && stepsOf(explained).length > 0
  return (
    <>
      <RuleInWords explained={explained} terms={line ? termsOf({ ...line, plan }) : null} />
      {sources.length > 0 && (
        <Table
          caption="Lines that make it up"
          rows={sources}
          columns={{
            Statement: ({ statement, affiliate_id, period }) => (
              <AccountLink at={['statements', statement]}>
                <AffiliateName id={affiliate_id} />, {periodWords(period)}
              </AccountLink>
            ),
            Plan: 'plan',
            Amount: {
              number: ({ amount, currency }) => (
                <Amount value={moneyText(decimal(amount), currency)} currency={currency} />
              ),
            },
          }}
        />
      )}
      {hasParts && (await partsOf(visit, visit.params.line_id ?? '', currency))}
    </>
  )
}

/** Why a line pays what it pays, down to its records and their deliveries. */
export const linePage: Page = {
  path: '/accounts/:account/lines/:line_id',
  shows: 'affiliate',
  section: 'Statements',
  query: ['customer_id', 'cursor'],
  async render(visit) {
    const { line_id = '' } = visit.params
    const [explained, questions] = await Promise.all([
      visit.api.call(getExplanation, { account: visit.account, line_id }),
      readBeside(visit),
    ])
    const { currency } = explained
    const { amount } = 'of' in explained ? explained : explained.line
    const body = (
      <>
        <Head statement={explained} line={'of' in explained ? null : explained.line} />
        <QuestionsBeside questions={questions} />
        <p class="quick">
          <AccountLink at={['statements', statementOfLine(line_id) ?? '']} children="Statement" />
        </p>
        <ExplanationView explained={explained} />
        <Deferred part={() => behind(visit, explained)} />
      </>
    )
    return { title: `Why ${amountText(amount, currency)}`, body }
  },
}
