import { type Change, useVisit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import {
  ComparedDetails,
  detailInputs,
  detailText,
  detailWord,
  TEAM_WORDS,
} from '../../pages/parts/bank-details.tsx'
import { Badge, Data, Time } from '../../pages/parts/data.tsx'
import { AccountLink, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import {
  DETAIL_NAMES,
  detailPointer,
  isOfMethod,
  nestedDetails,
  payerFields,
  readableDetails,
} from '../../payouts/fields.ts'
import type { Party } from '../../payouts/model.ts'
import type { PAYEE, PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from '../affiliates/audit-words.tsx'

/** Bank details as the API shows them. */
export type Shown = Omit<AnswerOf<typeof PAYEE.get>, 'affiliate_id'>

const NAMES: Readonly<Record<Party, readonly string[]>> = {
  payee: DETAIL_NAMES,
  payer: DETAIL_NAMES.filter((name) => (detailPointer(name).split('/')[1] ?? '') in payerFields),
}

/** Returns the changes of a page with the bank details of a party. */
export const partyChanges = (of: typeof PAYEE | typeof PAYER): Readonly<Record<string, Change>> => {
  const { put, approve, block, reveal, explain } = of as typeof PAYEE
  return {
    enter: calling(put, 'Entered. Another person must approve the bank details.', (values) => ({
      details: nestedDetails(
        DETAIL_NAMES.filter((name) => isOfMethod(values('method'), name)).map((name) => [
          name,
          values(name).trim(),
        ]),
      ) as never,
    })),
    approve: calling(approve, 'You have approved the bank details.'),
    block: calling(block, 'The bank details are blocked. Nothing is paid to them.'),
    ...(explain && { explain: calling(explain, 'Your reason is stored.') }),
    reveal: {
      ...calling(reveal, ''),
      show: (answer) => (
        <ComparedDetails
          details={(answer as AnswerOf<typeof reveal>).details}
          names={DETAIL_NAMES}
          words={TEAM_WORDS}
        />
      ),
    },
  }
}

/** The states of bank details: what they are called, and when they are paid. */
export const STATES = {
  missing: ['quiet', 'Not entered', 'Not paid before they are entered and approved.'],
  entered: ['warn', 'Waits for an approval', 'Not paid before another person approves them.'],
  approved: ['good', 'Approved', ''],
  returned: ['bad', 'Refused by a bank', 'Not paid before a person changes or confirms them.'],
  blocked: ['bad', 'Blocked', 'Not paid before they are entered anew.'],
} as const

/** Renders the state of bank details. */
export const PartyState = ({ state }: Pick<Shown, 'state'>) => (
  <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
)

/** Renders the form that enters bank details, with what is known of them. */
export const EnterForm = (props: { party: Party; shown?: Shown; fields?: readonly Input[] }) => {
  const { party, shown, fields = [] } = props
  const known = shown && readableDetails(shown)
  return (
    <FoldedForm
      change="enter"
      title={shown ? 'Enter bank details' : 'Add an account to pay from'}
      submit="Save the bank details"
      fields={[...fields, ...detailInputs(NAMES[party], TEAM_WORDS, known)]}
    >
      {known && known.size > 0 && <p class="note">{TEAM_WORDS.words.payee_hidden}</p>}
    </FoldedForm>
  )
}

/** What an approver decides of the taxes of a payee. */
const TAX_NAMES = ['treatment', 'exempt_reason']

const REASON: Input = { name: 'reason', label: 'Why', required: true }

/** Renders who entered and approved bank details, and the forms that decide on them. */
const Decisions = ({ party, shown }: { party: Party; shown: Shown }, { member } = useVisit()) => {
  const { state, version, entered_by, invited_by, approvals } = shown
  const decision = [
    { name: 'version', type: 'hidden', value: String(version) } as const,
    ...(party === 'payee' ? detailInputs(TAX_NAMES, TEAM_WORDS, readableDetails(shown)) : []),
  ]
  return (
    <>
      <Pairs
        pairs={[
          ['Entered by', actorTitle(entered_by ?? '')],
          ['Invited by', invited_by && actorTitle(invited_by)],
          ['Entered', <Time at={shown.entered_at} />],
          ['Approved by', approvals.map(actorTitle).join(', ') || null],
          ['Can be used from', state === 'approved' ? <Time at={shown.payable_from} /> : null],
          [
            state === 'blocked' ? 'Why' : 'The bank said',
            shown.reason && <Data text={shown.reason} />,
          ],
        ]}
      />
      {(state === 'entered' || state === 'returned') && entered_by !== member.actor && (
        <ChangeForm
          change="approve"
          submit={state === 'returned' ? 'They are right: pay them again' : 'Approve them'}
          needs="approver"
          fields={decision}
        />
      )}
      {state === 'approved' && party === 'payee' && entered_by !== member.actor && (
        <FoldedForm
          change="approve"
          title="Decide how VAT applies"
          submit="Decide"
          needs="approver"
          fields={decision}
        />
      )}
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
          title="Block them: nothing is paid before they are entered anew"
          submit="Block them"
          needs="approver"
          isDanger
          fields={[REASON]}
        />
      )}
    </>
  )
}

type Version = AnswerOf<typeof PAYEE.versions>['data'][number]

/** Renders what a version has changed, masked. */
const Changes = ({ changes }: Version) => (
  <ul class="diff">
    {changes.map(({ field, before, now }) => (
      <li>
        {detailWord(field, TEAM_WORDS)}:{' '}
        {before !== null && (
          <>
            <del>
              <Data text={detailText(field, before, TEAM_WORDS)} />
            </del>{' '}
            →{' '}
          </>
        )}
        <ins>{now === null ? 'none' : <Data text={detailText(field, now, TEAM_WORDS)} />}</ins>
      </li>
    ))}
  </ul>
)

/** Renders the versions of bank details: by whom, what was changed, and which transfers used it. */
export const Versions = ({ data, meta }: AnswerOf<typeof PAYEE.versions>) => (
  <>
    <Table
      caption="Versions of the bank details, the latest first"
      rows={data}
      columns={{
        Version: ({ version, state }) => (
          <>
            {version} <PartyState state={state} />
          </>
        ),
        By: ({ entered_by, author, entered_at, approvals, approved_at }) => (
          <>
            Entered: {author ?? actorTitle(entered_by ?? '')}, <Time at={entered_at} />
            {approvals.length > 0 && (
              <>
                <br />
                Approved: {approvals.map(actorTitle).join(', ')}, <Time at={approved_at} />
              </>
            )}
          </>
        ),
        'What changed': { prose: Changes },
        'Paid by': ({ transfers }) =>
          transfers.map(({ id, batch }) => [
            <AccountLink at={['batches', batch]} children={id} />,
            ' ',
          ]),
      }}
    />
    {meta.total > data.length && (
      <p class="note">
        These are the latest {data.length} of {meta.total}.
      </p>
    )}
  </>
)

/** Renders bank details, masked, and the forms that change them. */
export const PartyCard = ({ party, shown }: { party: Party; shown: Shown }) => (
  <>
    <p>
      <PartyState {...shown} /> {STATES[shown.state][2]}
    </p>
    {shown.same_account.length > 0 && (
      <>
        <p class="notice warn">
          The same account is that of{' '}
          {shown.same_account.map((id) => [<AffiliateLink id={id} />, ' '])}
        </p>
        {party === 'payee' && (
          <FoldedForm
            change="explain"
            title="Say why that is right"
            submit="Save the reason"
            needs="approver"
            fields={[REASON]}
          />
        )}
      </>
    )}
    {shown.state !== 'missing' && (
      <>
        <ComparedDetails {...shown} names={NAMES[party]} words={TEAM_WORDS} />
        <Decisions party={party} shown={shown} />
      </>
    )}
    <EnterForm party={party} shown={shown} />
  </>
)
