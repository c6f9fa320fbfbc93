import { listAccounts } from '../../accounts/accounts.ts'
import { useVisit, type Values, type Visit } from '../../pages/base/page.ts'
import { choiceWords } from '../../pages/parts/field-words.ts'
import { Field, Ticks } from '../../pages/parts/forms.tsx'
import type { listTeam, patchMember } from '../../people/operations/members.ts'
import { isAtLeast, type Role } from '../../platform/auth/roles.ts'
import { ROLES } from '../../platform/directory/members.ts'
import type { AnswerOf, InputOf } from '../../platform/http/operation.ts'
import { LANGUAGES } from '../../platform/languages.ts'

// What a member is given, in the forms that invite and change one.

/** A member in the list of the team. */
export type TeamMember = AnswerOf<typeof listTeam>['data'][number]

/** What forms send of a member. */
type Sent = Omit<InputOf<typeof patchMember>, 'member'>

/** The names of accounts by their ids. */
export type AccountNames = ReadonlyMap<string, string>

/** Reads the names of the accounts of whoever looks. */
export async function readAccountNames({ api }: Visit): Promise<AccountNames> {
  const { data } = await api.call(listAccounts, { per_page: 100 })
  return new Map(data.map(({ account, name }) => [account, name]))
}

const ROLE_HINTS: Readonly<Record<Role, string>> = {
  viewer: 'only looks',
  manager: 'also makes changes',
  approver: 'also approves, and invites',
}

/** Returns the choices of roles, each with what it may do. */
export const roleOptions = (highest: Role) =>
  ROLES.filter((role) => isAtLeast(highest, role)).map(
    (role) => [role, `${choiceWords(role)}: ${ROLE_HINTS[role]}`] as const,
  )

const idsOf = ({ accounts }: Pick<TeamMember, 'accounts'>): readonly string[] =>
  accounts === 'all' ? ['all'] : accounts

const affiliatesOf = ({ affiliates }: Pick<TeamMember, 'affiliates'>) =>
  affiliates === 'all' ? 'all' : 'own'

/** Renders the fields of what a member is given; `present` is what they have. */
export const MemberFields = (
  { change, accounts, present }: { change: string; accounts: AccountNames; present?: TeamMember },
  { member, refused } = useVisit(),
) => {
  const sent = refused?.change === change ? refused.values : null
  const had = present ? idsOf(present) : []
  const all = member.accounts === 'all' ? [['all', 'All accounts, also later ones'] as const] : []
  const was = present && {
    ...{ name: present.name, role: present.role, language: present.language },
    ...{ accounts: had.join(), affiliates: affiliatesOf(present) },
  }
  return (
    <>
      {Object.entries(was ?? {}).map(([name, value]) => (
        <input type="hidden" name={`was:${name}`} value={value} />
      ))}
      <Field
        {...{ change, name: 'name', required: true, value: present?.name }}
        attributes={{ maxlength: 100 }}
      />
      {!present && (
        <Field
          {...{ change, name: 'email', label: 'E-mail address', required: true }}
          hint="What they do is stored under this address. It never changes."
          attributes={{ inputmode: 'email', maxlength: 254 }}
        />
      )}
      <Field
        {...{ change, name: 'role', value: present?.role }}
        options={roleOptions('approver')}
      />
      <Ticks
        title="Accounts"
        ticks={[...all, ...accounts].map(([id, label]) => ({
          name: `accounts:${id}`,
          label,
          isTicked: sent ? sent(`accounts:${id}`) !== '' : had.includes(id),
        }))}
        errors={(refused?.errors ?? []).filter(
          ({ pointer }) => sent !== null && pointer?.startsWith('/accounts'),
        )}
      />
      <Field
        {...{ change, name: 'affiliates', value: present && affiliatesOf(present) }}
        options={[
          ['all', 'All affiliates'],
          ['own', 'Only those whose manager they are'],
        ]}
        hint="An approver always has all."
      />
      <Field
        {...{ change, name: 'language', value: present?.language }}
        options={LANGUAGES.map((language) => [language, choiceWords(language)])}
        hint="In which we write to them. The console is in English."
      />
    </>
  )
}

/** Returns what a form with these fields has changed of a member; all of a new one. */
export async function changedFields(values: Values, visit: Visit): Promise<Sent> {
  const ids = ['all', ...(await readAccountNames(visit)).keys()]
  const ticked = ids.filter((id) => values(`accounts:${id}`) !== '')
  const picked = ticked.includes('all') ? ['all'] : ticked
  const text = (name: string) => (name === 'accounts' ? picked.join() : values(name).trim())
  const fields = {
    ...{ name: text('name'), role: text('role'), language: text('language') },
    accounts: ticked.includes('all') ? 'all' : ticked,
    affiliates: text('affiliates') === 'own' ? { own: true } : 'all',
  }
  const changed = Object.entries(fields).filter(([name]) => text(name) !== values(`was:${name}`))
  // The operation checks each member.
  return Object.fromEntries(changed) as Sent
}
