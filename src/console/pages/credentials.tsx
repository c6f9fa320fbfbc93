import {
  listBrandTokens,
  regenerateBrandToken,
  revokeBrandToken,
} from '../../admin/brand-tokens.ts'
import { issueClient, listClients, revokeClient, rotateClient } from '../../admin/clients.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { nullIfConflict } from '../api-errors.ts'
import { calling } from '../calling.ts'
import { accountPath, type Change, type Page, useVisit, withQuery } from '../page.ts'
import { Badge, EmptyState, Time } from '../parts/data.tsx'
import { ChangeForm, ConfirmForm } from '../parts/forms.tsx'
import { RotationForms, rotationChanges, secretOf } from '../parts/rotation.tsx'
import { Table } from '../parts/table.tsx'
import { AccountTabs } from '../parts/tabs.tsx'

/** A credential of a partner or a brand. */
interface Credential {
  readonly id: string
  readonly isValid: boolean
  /** When the token, or the previous secret of a client, ends. */
  readonly until: string | null
  readonly created_at: string
}

const ofClient = (client: AnswerOf<typeof listClients>['data'][number]): Credential => ({
  id: client.client_id,
  isValid: !client.revoked,
  until: client.previous_secret_until,
  created_at: client.created_at,
})

const ofToken = ({
  alive,
  ends_at,
  ...token
}: AnswerOf<typeof listBrandTokens>['data'][number]): Credential => ({
  ...token,
  isValid: alive,
  until: ends_at,
})

/** Renders the credential that was issued. Its secret is shown only here. */
const done = secretOf(
  'The credential is issued.',
  'client_id',
  'client_secret',
  'id',
  'brand_token',
)

const revoke: Change = {
  done: 'The credential is revoked.',
  confirm: ({ query }) => query.client ?? query.token ?? '',
  next: (_, { account }) => accountPath(account, 'credentials'),
  perform: (_, { api, account, query: { client, token = '' } }) =>
    client
      ? api.call(revokeClient, { account, client_id: client })
      : api.call(revokeBrandToken, { account, token_id: token }),
}

const NAMES = { client: 'client', token: 'Brand Token' }
type Kind = keyof typeof NAMES

const State = ({ isValid }: Credential) => (
  <Badge tone={isValid ? 'good' : 'quiet'}>{isValid ? 'valid' : 'ended'}</Badge>
)

const Credentials = (props: { kind: Kind; rows: readonly Credential[] }, visit = useVisit()) => (
  <Table
    caption={props.kind === 'client' ? 'OAuth clients' : 'Brand Tokens'}
    rows={props.rows}
    columns={{
      ID: ({ id }) => (
        <a href={withQuery(visit.path, { [props.kind]: id })}>
          <code>{id}</code>
        </a>
      ),
      State: State,
      [props.kind === 'client' ? 'Old secret ends' : 'Ends']: ({ until }) =>
        until ? <Time at={until} /> : '–',
      Created: 'created_at',
    }}
    empty={
      <EmptyState title="The account has no credentials yet.">
        <p>Issue one below, and hand it over on a secure channel.</p>
      </EmptyState>
    }
  />
)

/** Renders the forms that rotate or revoke the credential that the address selects. */
const Selected = ({ kind, one }: { kind: Kind; one: Credential }, visit = useVisit()) => (
  <>
    <h2>
      {NAMES[kind]} <code>{one.id}</code>
    </h2>
    {one.isValid ? (
      <>
        {kind === 'client' && <RotationForms secret="client secret" name={one.id} />}
        <ConfirmForm
          change="revoke"
          submit={`Revoke the ${NAMES[kind]}`}
          needs="approver"
          name={one.id}
        >
          <p>Requests with it are refused at once. This cannot be undone.</p>
        </ConfirmForm>
      </>
    ) : (
      <p>It has ended. Issue another one on the list of credentials.</p>
    )}
    <p>
      <a href={visit.path}>All credentials</a>
    </p>
  </>
)

/** Renders the form that issues a credential: the first one, or another one. */
function Issue({ kind, rows }: { kind: Kind; rows: readonly Credential[] }, visit = useVisit()) {
  if (kind === 'token' && rows.some(({ isValid }) => isValid)) {
    return (
      <>
        <h2>Rotate the Brand Token</h2>
        <RotationForms secret="Brand Token" name={visit.account} />
      </>
    )
  }
  return (
    <>
      <h2>Issue a credential</h2>
      <ChangeForm
        change={kind === 'client' ? 'issue' : 'issueToken'}
        submit={`Issue a ${NAMES[kind]}`}
        needs="approver"
      >
        <p class="note">The secret is shown once, after you have issued it.</p>
      </ChangeForm>
    </>
  )
}

/** The credentials of an account: OAuth clients of a partner, or Brand Tokens of a brand. */
export const credentialsPage: Page = {
  path: '/accounts/:account/credentials',
  section: 'Account',
  query: ['client', 'token'],
  changes: {
    issue: calling(issueClient, done),
    issueToken: calling(regenerateBrandToken, done),
    ...rotationChanges({
      rotate: (overlap, { api, account, query: { client } }) =>
        client
          ? api.call(rotateClient, { account, client_id: client, overlap })
          : api.call(regenerateBrandToken, { account, overlap }),
      done,
      confirm: ({ account, query }) => query.client ?? account,
    }),
    revoke,
  },
  async render(visit) {
    const { api, account, query } = visit
    const [clients, tokens] = await Promise.all([
      api.call(listClients, { account }).catch(nullIfConflict),
      api.call(listBrandTokens, { account }).catch(nullIfConflict),
    ])
    const kind = clients ? 'client' : 'token'
    const rows = clients ? clients.data.map(ofClient) : (tokens?.data ?? []).map(ofToken)
    const one = rows.find(({ id }) => id === query[kind])
    const body = (
      <>
        <AccountTabs here="Credentials" />
        {one ? (
          <Selected kind={kind} one={one} />
        ) : (
          <>
            <Credentials kind={kind} rows={rows.toReversed()} />
            <Issue kind={kind} rows={rows} />
          </>
        )}
      </>
    )
    return { title: 'Credentials', body }
  },
}
