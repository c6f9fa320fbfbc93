import { accountPath, useVisit } from '../page.ts'

/** A tab: its text, and its address. */
export type Tab = readonly [text: string, address: string]

/** Renders links between the parts of a section. */
export const Tabs = ({
  tabs,
  here,
  label,
}: {
  tabs: readonly Tab[]
  here: string
  label: string
}) => (
  <nav class="section-tabs" aria-label={label}>
    {tabs.map(([text, address]) => (
      <a href={address} aria-current={text === here ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)

const ACCOUNT_TABS = {
  Settings: 'account',
  Credentials: 'credentials',
  Mappings: 'mappings',
  Links: 'links',
  Files: 'files',
}

/** Renders links between the pages of the section `Account`. */
export const AccountTabs = ({ here }: { here: keyof typeof ACCOUNT_TABS }, visit = useVisit()) => (
  <Tabs
    label="Account"
    here={here}
    tabs={Object.entries(ACCOUNT_TABS).map(([text, part]) => [
      text,
      accountPath(visit.account, part),
    ])}
  />
)
