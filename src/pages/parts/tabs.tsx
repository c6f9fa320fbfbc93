import { accountPath, type Section, useVisit } from '../base/page.ts'

/** A tab: its text, and its address. */
export type Tab = readonly [text: string, address: string]

/** Renders links between the parts of a section. */
export const Tabs = (
  {
    tabs,
    here,
    label,
  }: {
    tabs: readonly Tab[]
    here: string
    label: string
  },
  { mayOpen } = useVisit(),
) => (
  <nav class="section-tabs" aria-label={label}>
    {tabs.map(
      ([text, address]) =>
        mayOpen(address) && (
          <a href={address} aria-current={text === here ? 'page' : undefined}>
            {text}
          </a>
        ),
    )}
  </nav>
)

/** Returns what renders links between the pages of a section. `pages` has their paths below that of the account. */
export const sectionTabs =
  <P extends Readonly<Record<string, string>>>(section: Section, pages: P) =>
  ({ here }: { here: keyof P & string }, { account } = useVisit()) => (
    <Tabs
      label={section}
      here={here}
      tabs={Object.entries(pages).map(([text, path]) => [text, `${accountPath(account)}/${path}`])}
    />
  )

/** Renders links between the pages of the section `Account`. */
export const AccountTabs = sectionTabs('Account', {
  Settings: 'account',
  Credentials: 'credentials',
  Mappings: 'mappings',
  Links: 'links',
  Notices: 'notices',
})
