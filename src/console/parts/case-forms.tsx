import type { ApiRequest } from '../api.ts'
import { pick } from '../form.ts'
import { apiPath, type Change, type Values, type Visit } from '../page.ts'
import type { FraudCase } from './cases.tsx'
import { Data, isolated } from './data.tsx'
import { ChangeForm, Field, FoldedForm } from './forms.tsx'

// The forms that decide a case and add notes.

/** The most customers that the form of a decision lists. */
export const MOST_REFUSED = 100

const refuseName = (position: number): string => `refuse${position}`

/** Returns the customers that a form has ticked. */
const readRefused = (values: Values): string[] =>
  Array.from({ length: MOST_REFUSED }, (_, i) => values(refuseName(i))).filter(Boolean)

const ownPath = ({ account, params }: Visit, action: string): string =>
  apiPath(account, 'cases', params.case ?? '', action)

function decideRequest(values: Values, visit: Visit): ApiRequest {
  const refuse = readRefused(values)
  return {
    method: 'POST',
    path: ownPath(visit, 'decide'),
    body: {
      ...pick(values, 'decision', 'shown'),
      reason: values('reason').trim(),
      ...(values('keep_hold') && { keep_hold: true }),
      ...(refuse.length > 0 && { refuse, ...pick(values, 'from') }),
    },
  }
}

/** Decides a case. */
export const decide: Change = {
  done: (answer) =>
    (answer as FraudCase).status === 'open'
      ? 'Your decision is recorded. A second person must agree before it takes effect.'
      : 'The case is decided.',
  request: decideRequest,
}

/** Ends the hold that the decision of a case has kept. */
export const release: Change = {
  done: (answer) =>
    (answer as FraudCase).keep_hold
      ? 'Your decision is recorded. A second person must agree before it takes effect.'
      : 'The hold is ended.',
  request: (values, visit) => ({
    method: 'POST',
    path: ownPath(visit, 'decide'),
    body: { decision: 'confirmed', reason: values('reason').trim() },
  }),
}

/** Adds a note to a case. */
export const addNote: Change = {
  done: 'The note is added.',
  request: (values, visit) => ({
    method: 'POST',
    path: ownPath(visit, 'note'),
    body: { text: values('text').trim() },
  }),
}

interface DecideProps {
  readonly visit: Visit
  readonly found: FraudCase
  /** A digest of the records that the page shows, by which the API notices that they have changed. */
  readonly shown: string
  /** The customers of the case, as far as the page has their records. */
  readonly customers: readonly string[]
  /** Whether the case has records on other pages, too. */
  readonly isPart: boolean
}

/** Renders a box for each customer of the case, with what refusing them means. */
function Refuse({ visit, customers, isPart }: Omit<DecideProps, 'found' | 'shown'>) {
  const { refused } = visit
  const ticked = new Set(refused?.change === 'decide' ? readRefused(refused.values) : [])
  return (
    <fieldset class="choices">
      <legend>Refuse customers</legend>
      {customers.map((id, position) => (
        <label>
          <input
            type="checkbox"
            name={refuseName(position)}
            value={id}
            checked={ticked.has(id)}
            aria-label={`Refuse ${isolated(id)}`}
          />{' '}
          <Data text={id} />
        </label>
      ))}
      <p class="note">
        {isPart && 'These are the customers of the records above; the other pages have more. '}
        Nobody earns commission from a refused customer. What was approved for them is taken back by
        the next statements. Their page ends the refusal.
      </p>
    </fieldset>
  )
}

/** Renders the form that decides a case. */
export const DecideForm = (props: DecideProps) => {
  const { visit: page, found, shown, customers, isPart } = props
  const { refused } = page
  // The page says what changed of the records.
  const visit: Visit = refused?.changed
    ? { ...page, refused: { ...refused, detail: 'Check the records, and decide again.' } }
    : page
  const keeps = refused?.change === 'decide' && refused.values('keep_hold') !== ''
  return (
    <ChangeForm visit={visit} change="decide" submit="Record the decision" needs="approver">
      <input type="hidden" name="shown" value={shown} />
      <Field
        visit={visit}
        change="decide"
        name="decision"
        required
        options={[
          ['', 'Choose'],
          ['confirmed', 'Confirm: it is fraud'],
          ['dismissed', 'Dismiss: there is an honest explanation'],
        ]}
      />
      <div class="short">
        <Field
          visit={visit}
          change="decide"
          name="reason"
          type="area"
          required
          hint="The case and the audit log show it."
        />
      </div>
      {found.action === 'hold' && (
        <div class="choices">
          <label>
            <input type="checkbox" name="keep_hold" value="yes" checked={keeps} /> Go on holding the
            payouts
          </label>
          <p class="note">
            Only of a case that is confirmed. Otherwise the decision ends the hold.
          </p>
        </div>
      )}
      {customers.length > 0 && (
        <>
          <Refuse visit={visit} customers={customers} isPart={isPart} />
          <Field
            visit={visit}
            change="decide"
            name="from"
            label="Refuse them from"
            type="date"
            hint="Their first day without commission. Empty: from the beginning."
          />
        </>
      )}
    </ChangeForm>
  )
}

/** Renders the form that ends the hold of a confirmed case. */
export const ReleaseForm = ({ visit }: { visit: Visit }) => (
  <FoldedForm
    visit={visit}
    change="release"
    title="End the hold"
    submit="End the hold"
    needs="approver"
    fields={[
      {
        name: 'reason',
        type: 'area',
        required: true,
        hint: 'The case stays confirmed. The case and the audit log show the reason.',
      },
    ]}
  />
)

/** Renders the form that adds a note. */
export const NoteForm = ({ visit }: { visit: Visit }) => (
  <FoldedForm
    visit={visit}
    change="note"
    title="Add a note"
    submit="Add the note"
    fields={[{ name: 'text', label: 'Note', type: 'area', required: true }]}
  />
)
