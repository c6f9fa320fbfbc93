import {
  listBrandTokens,
  regenerateBrandToken,
  revokeBrandToken,
} from '../../admin/brand-tokens.ts'
import { issueClient, listClients, revokeClient, rotateClient } from '../../admin/clients.ts'
import type { AnswerOf, AnyOperation } from '../../http/operation.ts'
import { nullIfConflict } from '../api-errors.ts'
import { calling } from '../calling.ts'
import { type Change, type Page, useVisit, withQuery } from '../page.ts'
import { Badge, EmptyState, Time } from '../parts/data.tsx'
import { ChangeForm, ConfirmForm } from '../parts/forms.tsx'
import { RotationForm, secretOf } from '../parts/rotation.tsx'
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

/** The kinds of credentials: what each is called, and the parameter of the address that selects one. */
const KINDS = {
  client: { name: 'client', param: 'client_id', caption: 'OAuth clients', ends: 'Old secret ends' },
  token: { name: 'Brand Token', param: 'token_id', caption: 'Brand Tokens', ends: 'Ends' },
} as const
type Kind = keyof typeof KINDS

/** Returns the changes of a kind. */
const changesOf = (
  kind: Kind,
  ops: { issue: AnyOperation; rotate: AnyOperation; revoke: AnyOperation },
): Record<string, Change> => ({
  [`issue${kind}`]: calling(ops.issue, done),
  [`rotate${kind}`]: calling(ops.rotate, done),
  [`revoke${kind}`]: {
    ...calling(ops.revoke, 'The credential is revoked.'),
    confirm: ({ query }) => query[KINDS[kind].param] ?? '',
    next: (_, { path }) => path,
  },
})

/** Renders the forms that rotate or revoke the credential that the address selects. */
const Selected = ({ kind, one }: { kind: Kind; one: Credential }, visit = useVisit()) => (
  <>
    <h2>
      {KINDS[kind].name} <code>{one.id}</code>
    </h2>
    {one.isValid ? (
      <>
        {kind === 'client' && <RotationForm secret="client secret" change="rotateclient" />}
        <ConfirmForm
          change={`revoke${kind}`}
          submit={`Revoke the ${KINDS[kind].name}`}
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

/** The credentials of an account: OAuth clients of a partner, or Brand Tokens of a brand. */
export const credentialsPage: Page = {
  path: '/accounts/:account/credentials',
  section: 'Account',
  query: ['client_id', 'token_id'],
  changes: {
    ...changesOf('client', { issue: issueClient, rotate: rotateClient, revoke: revokeClient }),
    ...changesOf('token', {
      issue: regenerateBrandToken,
      rotate: regenerateBrandToken,
      revoke: revokeBrandToken,
    }),
  },
  async render(visit) {
    const { api, account, query } = visit
    const [clients, tokens] = await Promise.all([
      api.call(listClients, { account }).catch(nullIfConflict),
      api.call(listBrandTokens, { account }).catch(nullIfConflict),
    ])
    const kind = clients ? 'client' : 'token'
    const rows = clients ? clients.data.map(ofClient) : (tokens?.data ?? []).map(ofToken)
    const { name, param, caption, ends } = KINDS[kind]
    const one = rows.find(({ id }) => id === query[param])
    const body = (
      <>
        <AccountTabs here="Credentials" />
        {one ? (
          <Selected kind={kind} one={one} />
        ) : (
          <>
            <Table
              caption={caption}
              rows={rows.toReversed()}
              columns={{
                ID: ({ id }) => (
                  <a href={withQuery(visit.path, { [param]: id })}>
                    <code>{id}</code>
                  </a>
                ),
                State: ({ isValid }) => (
                  <Badge tone={isValid ? 'good' : 'quiet'}>{isValid ? 'valid' : 'ended'}</Badge>
                ),
                [ends]: ({ until }) => (until ? <Time at={until} /> : '–'),
                Created: 'created_at',
              }}
              empty={
                <EmptyState title="The account has no credentials yet.">
                  <p>Issue one below, and hand it over on a secure channel.</p>
                </EmptyState>
              }
            />
            {kind === 'token' && rows.some(({ isValid }) => isValid) ? (
              <>
                <h2>Rotate the Brand Token</h2>
                <RotationForm secret="Brand Token" change="rotatetoken" />
              </>
            ) : (
              <>
                <h2>Issue a credential</h2>
                <ChangeForm change={`issue${kind}`} submit={`Issue a ${name}`} needs="approver">
                  <p class="note">The secret is shown once, after you have issued it.</p>
                </ChangeForm>
              </>
            )}
          </>
        )}
      </>
    )
    return { title: 'Credentials', body }
  },
}
