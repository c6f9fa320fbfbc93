import {
  listBrandTokens,
  regenerateBrandToken,
  revokeBrandToken,
} from '../../accounts/brand-tokens.ts'
import { issueClient, listClients, revokeClient, rotateClient } from '../../accounts/clients.ts'
import { nullIfConflict } from '../../pages/api-errors.ts'
import type { Change, Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, EmptyState, Time } from '../../pages/parts/data.tsx'
import { ChangeForm, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { RotationForm, secretOf } from '../../pages/parts/rotation.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import type { AnswerOf, AnyOperation } from '../../platform/http/operation.ts'

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

/** Returns the changes of a kind of credentials. */
const changesOf = (
  kind: 'client' | 'token',
  ops: { issue: AnyOperation; rotate: AnyOperation; revoke: AnyOperation },
): Record<string, Change> => ({
  [`issue${kind}`]: calling(ops.issue, done),
  [`rotate${kind}`]: calling(ops.rotate, done),
  [`revoke${kind}`]: calling(ops.revoke, 'The credential is revoked.'),
})

/** The credentials of an account: OAuth clients of a partner, or Brand Tokens of a brand. */
export const credentialsPage: Page = {
  path: '/accounts/:account/credentials',
  shows: 'account',
  section: 'Account',
  changes: {
    ...changesOf('client', { issue: issueClient, rotate: rotateClient, revoke: revokeClient }),
    ...changesOf('token', {
      issue: regenerateBrandToken,
      rotate: regenerateBrandToken,
      revoke: revokeBrandToken,
    }),
  },
  async render(visit) {
    const { api, account } = visit
    const [clients, tokens] = await Promise.all([
      api.call(listClients, { account }).catch(nullIfConflict),
      api.call(listBrandTokens, { account }).catch(nullIfConflict),
    ])
    const rows = clients ? clients.data.map(ofClient) : (tokens?.data ?? []).map(ofToken)
    const [kind, name, param] = clients
      ? (['client', 'client', 'client_id'] as const)
      : (['token', 'Brand Token', 'token_id'] as const)
    const valid = rows.filter(({ isValid }) => isValid).map(({ id }): Option => [id, id])
    const body = (
      <>
        <AccountTabs here="Credentials" />
        <Table
          caption={clients ? 'OAuth clients' : 'Brand Tokens'}
          rows={rows.toReversed()}
          columns={{
            ID: ({ id }) => <code>{id}</code>,
            State: ({ isValid }) => (
              <Badge tone={isValid ? 'good' : 'quiet'}>{isValid ? 'valid' : 'ended'}</Badge>
            ),
            [clients ? 'Old secret ends' : 'Ends']: ({ until }) =>
              until ? <Time at={until} /> : '–',
            Created: 'created_at',
          }}
          empty={
            <EmptyState title="The account has no credentials yet.">
              <p>Issue one below, and hand it over on a secure channel.</p>
            </EmptyState>
          }
        />
        {(clients || valid.length === 0) && (
          <>
            <h2>Issue a credential</h2>
            <ChangeForm change={`issue${kind}`} submit={`Issue a ${name}`} needs="approver">
              <p class="note">The secret is shown once, after you have issued it.</p>
            </ChangeForm>
          </>
        )}
        {valid.length > 0 && (
          <>
            <h2>Rotate or revoke</h2>
            <RotationForm
              secret={clients ? 'client secret' : 'Brand Token'}
              change={`rotate${kind}`}
              fields={clients ? [{ name: param, label: 'Client', options: valid }] : []}
            />
            <FoldedForm
              change={`revoke${kind}`}
              title={`Revoke a ${name}`}
              submit={`Revoke the ${name}`}
              needs="approver"
              isDanger
              fields={[{ name: param, label: 'Type its ID to confirm', required: true }]}
            >
              <p>Requests with it are refused at once. This cannot be undone.</p>
            </FoldedForm>
          </>
        )}
      </>
    )
    return { title: 'Credentials', body }
  },
}
