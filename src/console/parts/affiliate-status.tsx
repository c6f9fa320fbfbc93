import { putAffiliates } from '../../admin/affiliates.ts'
import type { Change, Values, Visit } from '../page.ts'
import { isolated } from './data.tsx'
import { FoldedForm } from './forms.tsx'

// Who may sign in: the state of an affiliate, and the forms that change it.

/** The state of an affiliate: a suspended one cannot sign in or use its keys. */
export type Status = 'active' | 'suspended'

/** Returns a change that sets the state of affiliates. */
export const setStatus = (
  status: Status,
  affiliatesOf: (values: Values, visit: Visit) => readonly string[],
  done: Change['done'],
): Change => ({
  done,
  perform: (values, visit) =>
    visit.api.call(putAffiliates, {
      account: visit.account,
      affiliates: affiliatesOf(values, visit).map((affiliate_id) => ({ affiliate_id, status })),
    }),
})

const ofPage = (_: Values, { params }: Visit) => [params.affiliate_id ?? '']

/** The changes of the state of the affiliate of a page. */
export const statusChanges: Readonly<Record<string, Change>> = {
  suspend: setStatus(
    'suspended',
    ofPage,
    'The affiliate is suspended, and its members are signed out. It earns on.',
  ),
  reinstate: setStatus('active', ofPage, 'The affiliate is reinstated, and can sign in again.'),
}

/** Renders that an affiliate is suspended, and the form that suspends or reinstates it. */
export const StatusForm = ({ affiliate_id, status }: { affiliate_id: string; status: Status }) =>
  status === 'active' ? (
    <FoldedForm
      change="suspend"
      title="Suspend the affiliate"
      submit={`Suspend ${isolated(affiliate_id)}`}
      isDanger
    >
      <p>
        Its members are signed out at once. Until you reinstate it, nobody can sign in for it, and
        its keys are refused. It keeps what it earned, and earns on.
      </p>
    </FoldedForm>
  ) : (
    <FoldedForm
      change="reinstate"
      title="Reinstate the affiliate"
      submit={`Reinstate ${isolated(affiliate_id)}`}
    >
      <p>
        Its members can sign in again with their passkeys. Its keys work again, and so do
        invitations that have not ended.
      </p>
    </FoldedForm>
  )
