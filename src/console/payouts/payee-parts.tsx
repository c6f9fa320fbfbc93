import en from '../../../catalogues/en.json' with { type: 'json' }
import { ENGLISH } from '../../commission/words/words.ts'
import { calling } from '../../pages/calling.ts'
import { type Change, useVisit, type Values } from '../../pages/page.ts'
import {
  ComparedDetails,
  detailInputs,
  detailText,
  detailTitle,
} from '../../pages/parts/bank-details.tsx'
import { Badge, Data, Sentence, Time } from '../../pages/parts/data.tsx'
import { Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { DETAIL_NAMES, flatDetails, nestedDetails, readableDetails } from '../../payouts/fields.ts'
import type { PAYEE, PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'

/** Bank details as the API shows them. */
export type Party = Omit<AnswerOf<typeof PAYEE.get>, 'affiliate_id'>

type State = Party['state']

/** How the team reads bank details. */
const WORDS = {
  speech: ENGLISH,
  words: {
    ...en.portal,
    ...{ payee_treatment: 'VAT', payee_domestic: 'Domestic' },
    ...{ payee_reverse_charge: 'Reverse charge', payee_outside: 'Outside of VAT' },
  },
}

/** The members of a payer. */
const OF_PAYER = DETAIL_NAMES.filter(
  (name) => !['kind', 'email', 'method', 'vat_id', 'treatment'].includes(name),
)

/** Returns the fields of a form with bank details, with what is `known` of them. */
export const detailFields = (isPayer: boolean, known?: ReadonlyMap<string, string>): Input[] =>
  detailInputs(isPayer ? OF_PAYER : DETAIL_NAMES, WORDS, known).map((input) =>
    isPayer && input.name === 'currency' ? { ...input, required: true } : input,
  )

const ENTERED = 'The bank details are entered. Another person must approve them.'

/** Returns the details that a form has. */
export const typedDetails = (values: Values) =>
  nestedDetails(DETAIL_NAMES.map((name) => [name, values(name).trim()]))

/** Returns the changes of a page with the bank details of a party. */
export const partyChanges = (of: typeof PAYEE | typeof PAYER): Readonly<Record<string, Change>> => {
  const operations = of as typeof PAYEE
  return {
    enter: calling(operations.put, ENTERED, (values) => ({
      details: typedDetails(values) as never,
    })),
    approve: calling(operations.approve, (answer) =>
      (answer as Party).state === 'approved'
        ? 'The bank details are approved.'
        : 'Your approval is noted. Another person must approve them, too.',
    ),
    block: calling(operations.block, 'The bank details are blocked. Nothing is paid to them.'),
    reveal: {
      ...calling(operations.reveal, ''),
      show: (answer) => <Full details={(answer as AnswerOf<typeof PAYEE.reveal>).details} />,
    },
  }
}

/** Renders details in full. */
const Full = ({ details }: { details: object }) => (
  <Pairs
    pairs={flatDetails(details).map(([name, text]) => [
      detailTitle(name, WORDS),
      <Data text={detailText(name, text, WORDS)} />,
    ])}
  />
)

const STATES: Readonly<Record<State, readonly ['good' | 'warn' | 'bad' | 'quiet', string]>> = {
  missing: ['quiet', 'Not entered'],
  entered: ['warn', 'Waits for an approval'],
  approved: ['good', 'Approved'],
  returned: ['bad', 'Refused by a bank'],
  blocked: ['bad', 'Blocked'],
}

/** Renders the state of bank details in words. */
export const PartyState = ({ party }: { party: Party }) => {
  const [tone, text] = STATES[party.state]
  return <Badge tone={tone}>{text}</Badge>
}

/** Renders when bank details are paid, or why they are not. */
const Explained = ({ party }: { party: Party }, { now } = useVisit()) => {
  const { state, payable_from, approvals, approvals_required, reason } = party
  if (state === 'missing') return <>Nothing can be paid before they are entered and approved.</>
  if (state === 'entered') {
    const more = approvals_required - approvals.length
    return (
      <>
        Nothing is paid before {more === 1 ? 'another person approves' : `${more} persons approve`}{' '}
        them.
      </>
    )
  }
  if (state === 'approved') {
    return Date.parse(payable_from ?? '') > now ? (
      <>
        Nothing is paid before <Time at={payable_from} />.
      </>
    ) : (
      <>They can be paid.</>
    )
  }
  return (
    <>
      <Sentence text={`${reason ?? ''} `} />
      {state === 'returned'
        ? 'Nothing is paid before they are entered anew, or a person says that they are right.'
        : 'Nothing is paid before they are entered anew.'}
    </>
  )
}

const REASON: Input = { name: 'reason', label: 'Why', required: true }

/** Renders bank details, masked, and the forms that change them. */
export const PartyCard = (
  { party, isPayer = false }: { party: Party; isPayer?: boolean },
  { member } = useVisit(),
) => {
  const { state, version, entered_by, entered_at, approvals, shared_with } = party
  const isOwn = entered_by === member.actor
  return (
    <>
      <p>
        <PartyState party={party} /> <Explained party={party} />
      </p>
      {shared_with.length > 0 && (
        <p class="notice warn">
          The same account is that of{' '}
          {shared_with.map((id) => (
            <>
              <AffiliateLink id={id} />{' '}
            </>
          ))}
        </p>
      )}
      {state !== 'missing' && (
        <>
          <ComparedDetails {...party} names={isPayer ? OF_PAYER : DETAIL_NAMES} words={WORDS} />
          <p class="note">
            Entered by <Actor actor={entered_by ?? ''} />, <Time at={entered_at} />.
            {approvals.length > 0 && ' Approved by '}
            {approvals.map((actor) => (
              <>
                <Actor actor={actor} />{' '}
              </>
            ))}
          </p>
        </>
      )}
      {(state === 'entered' || state === 'returned') &&
        (isOwn ? (
          <p class="note">You entered them, so another person must approve them.</p>
        ) : (
          <ChangeForm
            change="approve"
            submit={state === 'returned' ? 'They are right: pay them again' : 'Approve them'}
            needs="approver"
            fields={[{ name: 'version', type: 'hidden', value: String(version) }]}
          />
        ))}
      <FoldedForm
        change="enter"
        title={state === 'missing' ? 'Enter the bank details' : 'Change the bank details'}
        submit="Save the bank details"
        fields={detailFields(isPayer, readableDetails(party))}
      />
      {state !== 'missing' && (
        <>
          <FoldedForm
            change="reveal"
            title="Show them in full"
            submit="Show them"
            needs="approver"
            fields={[{ ...REASON, hint: 'The audit log says who looked, and why.' }]}
          />
          {state !== 'blocked' && (
            <FoldedForm
              change="block"
              title="Block them"
              submit="Block them"
              needs="approver"
              isDanger
              fields={[REASON]}
            >
              <p>Nothing is paid until they are entered anew and approved.</p>
            </FoldedForm>
          )}
        </>
      )}
    </>
  )
}
