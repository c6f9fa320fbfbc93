import type { Context } from 'hono'
import { findAgreement, listInvoices, offeredAgreement } from '../books/db/invoices.ts'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import { Problem } from '../pages/passkeys/parts.tsx'
import { writeDocument } from '../payouts/invoice-document.ts'
import { acceptAgreement, presentInvoice, readInvoice } from '../payouts/invoices.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { ApiError } from '../platform/errors.ts'
import { fill } from '../platform/languages.ts'
import { changesOf, MemberForm, type Refused } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { AskLink } from './questions.tsx'
import type { MemberVisit } from './visit.ts'

const AT = '/invoices'

/** The invoices of the page: the latest. */
const LATEST = { number: 1, size: 100, after: null, counted: null }

const callOf = (visit: MemberVisit) => ({ ...visit.page, ...visit })

/** Renders the agreement: the one that stands, or the one that the firm asks for. */
async function renderAgreement(visit: MemberVisit) {
  const { words, account, db, session } = visit
  const accepted = await findAgreement(db, account.id, session.affiliate_id)
  const standing = accepted?.until === null ? accepted : null
  const shown = standing ?? offeredAgreement(account)
  if (!shown) return null
  const named = { account: account.name, version: shown.version }
  const time = standing ? timeText(standing.accepted_at, visit) : ''
  return (
    <section>
      <h2>{words.agreement}</h2>
      <p>{fill(words[standing ? 'agreement_stands' : 'agreement_lead'], { ...named, time })}</p>
      {shown.text.split(/\n+/).map((line) => (
        <p>
          <Data text={line} />
        </p>
      ))}
      {!standing && (
        <MemberForm at={AT} values={{ version: shown.version }} submit={words.agreement_accept} />
      )}
    </section>
  )
}

/** Responds with the invoices of the affiliate and their agreement, or with the document of one. */
export async function showInvoices(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused: Refused | null = null,
): Promise<Response> {
  const { words, speech, account, db, session, language } = visit
  const { number, done } = c.req.query()
  if (number) {
    const invoice = await readInvoice(callOf(visit), number, session.affiliate_id)
    return c.html(writeDocument(invoice, language))
  }
  const [found, agreement] = await Promise.all([
    listInvoices(db, account.id, session.affiliate_id, LATEST),
    renderAgreement(visit),
  ])
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="invoices"
      title={words.invoices}
      done={done && words.payee_done}
    >
      <p class="lead">{fill(words.invoices_lead, { account: account.name })}</p>
      {refused && <Problem text={refused.problem} />}
      {agreement}
      <Table
        caption={words.invoices}
        rows={found.data.map(presentInvoice)}
        columns={{
          [words.reference]: (one) => (
            <a
              href={`${portalPath(account.id, AT)}?${new URLSearchParams({ number: one.number })}`}
            >
              {one.number}
            </a>
          ),
          [words.state]: ({ issued_on, corrected_by, statement_id, period }) => (
            <>
              {speech.day(issued_on)}{' '}
              {corrected_by ? (
                fill(words.invoice_taken_back, { number: corrected_by })
              ) : (
                <AskLink subject={{ statement: statement_id, period }} />
              )}
            </>
          ),
          [words.amount]: { number: ({ total, currency }) => speech.money(total, currency) },
        }}
        empty={<p class="note">{words.no_invoices}</p>}
      />
      {found.total > 0 && <p class="note">{words.invoice_object_lead}</p>}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Accepts the agreement that the member has read. Returns the address that says so. */
async function accept(visit: MemberVisit, values: Values): Promise<string> {
  await acceptAgreement(callOf(visit), visit.session.affiliate_id, values('version'))
  return `${portalPath(visit.account.id, AT)}?done=yes`
}

function problemOf({ words }: MemberVisit, error: ApiError): string {
  if (error.code !== 'conflict') throw error
  return words.invoice_refused
}

/** Accepts the agreement. */
export const changeInvoices = changesOf({ make: accept, problemOf, show: showInvoices })
