import { listAffiliatePostbacks, pausePostback } from '../../admin/affiliate-postbacks.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { nullIfNotFound } from '../api-errors.ts'
import type { Change, Visit } from '../page.ts'
import { Data, Table, Time } from './data.tsx'
import { column } from './fields.tsx'
import { FoldedForm } from './forms.tsx'

// Where an affiliate has events sent.

type Postback = AnswerOf<typeof listAffiliatePostbacks>['data'][number]

/** Reads the postbacks of an affiliate; none if it is not configured. */
export async function readPostbacks(
  { api, account }: Visit,
  affiliate: string,
): Promise<readonly Postback[]> {
  const found = await api
    .call(listAffiliatePostbacks, { account, affiliate_id: affiliate })
    .catch(nullIfNotFound)
  return found?.data ?? []
}

const switched = (disabled: boolean, done: string): Change => ({
  done,
  perform: (values, { api, account, params: { affiliate = '' } }) =>
    api.call(pausePostback, {
      account,
      affiliate_id: affiliate,
      postback_id: values('postback'),
      disabled,
    }),
})

/** The changes of the postbacks of the affiliate of a page. */
export const postbackChanges: Readonly<Record<string, Change>> = {
  pause_postback: switched(true, 'The postback is paused. Nothing more is sent to it.'),
  resume_postback: switched(false, 'The postback goes on.'),
}

const STATES: Readonly<Record<string, string>> = {
  affiliate: 'paused by the affiliate',
  firm: 'paused by your team',
  gone: 'stopped: its server says that the address no longer exists',
  failing: 'stopped: every attempt of three days failed',
}

const EVENT_WORDS: Readonly<Record<string, string>> = {
  signup: 'signups',
  first_deposit: 'first deposits',
  qualified: 'customers who qualify',
  'commission.approved': 'approved commission',
  'commission.adjusted': 'corrected commission',
  'statement.paid': 'payments',
}

/** Renders what an affiliate has sent to their tracker, and the forms that pause a postback. */
export const PostbacksPart = (props: { visit: Visit; postbacks: readonly Postback[] }) => {
  const { visit, postbacks } = props
  if (postbacks.length === 0) return null
  const optionsOf = (isPaused: boolean) =>
    postbacks
      .filter(({ disabled_reason }) => (disabled_reason === 'firm') === isPaused)
      .map(({ id, url }) => [id, url] as const)
  const [active, paused] = [optionsOf(false), optionsOf(true)]
  return (
    <>
      <Table
        caption="Postbacks"
        rows={postbacks}
        columns={[
          column('Address', ({ url }: Postback) => <Data text={url} />),
          column('What is sent', ({ events }: Postback) =>
            events.map((type) => EVENT_WORDS[type] ?? type).join(', '),
          ),
          column('State', ({ disabled_reason }: Postback) =>
            disabled_reason === null ? 'active' : (STATES[disabled_reason] ?? ''),
          ),
          column('Made', ({ created_at }: Postback) => <Time at={created_at} />),
        ]}
      />
      {active.length > 0 && (
        <FoldedForm
          visit={visit}
          change="pause_postback"
          title="Pause a postback"
          submit="Pause the postback"
          fields={[{ name: 'postback', label: 'Postback', options: active }]}
        >
          <p>The affiliate cannot end your pause. What waits to be sent is not sent.</p>
        </FoldedForm>
      )}
      {paused.length > 0 && (
        <FoldedForm
          visit={visit}
          change="resume_postback"
          title="Let a postback go on"
          submit="Let it go on"
          fields={[{ name: 'postback', label: 'Postback', options: paused }]}
        >
          <p>What happens from now on is sent again.</p>
        </FoldedForm>
      )}
    </>
  )
}
