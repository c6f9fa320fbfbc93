import type { Child } from 'hono/jsx'
import { accountPath, SECTION_GROUPS, type Section, useVisit } from './base/page.ts'
import { Data } from './parts/data.tsx'
import { FindRecord } from './parts/deliveries.tsx'

interface Frame {
  readonly title: string
  readonly section: Section | undefined
  readonly children?: Child
}

/** Renders an HTML document. The pages of sign-in and errors have no navigation around them. */
export const Document = ({ title, children }: { title: string; children?: Child }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title} · Tributary</title>
      <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/assets/page.css" />
      <link rel="stylesheet" href="/assets/console.css" />
      <script type="module" src="/assets/console.js" />
    </head>
    <body class="console">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      {children}
    </body>
  </html>
)

/** Renders the icon and the name of the product, as a link to the list of accounts. */
export const Home = () => (
  <a href="/console">
    <img src="/assets/favicon.svg" alt="" width="22" height="22" />
    Tributary
  </a>
)

const Link = ({ to, here, children }: { to: string; here: boolean; children?: Child }) => (
  <a href={to} aria-current={here ? 'page' : undefined}>
    {children}
  </a>
)

/** The last segment of the address of a section, where its name does not say it. */
const SEGMENTS: Partial<Record<Section, string>> = {
  'Held records': 'held',
  Rules: 'fraud-rules',
}

/** Returns the address of a section of an account. */
const sectionPath = (account: string, section: Section) =>
  section === 'Overview'
    ? accountPath(account)
    : accountPath(account, SEGMENTS[section] ?? section.toLowerCase().replace(' ', '-'))

const Nav = (frame: Frame, visit = useVisit()) => (
  <>
    {visit.account !== '' && (
      <>
        <h2>Account</h2>
        <p class="account-name">
          <Data text={visit.accountName ?? visit.account} />
        </p>
        {SECTION_GROUPS.map(({ heading, sections }) => (
          <>
            {heading !== null && <h2>{heading}</h2>}
            <ul>
              {sections.map((section) => {
                const to = sectionPath(visit.account, section)
                return (
                  visit.mayOpen(to) && (
                    <li>
                      <Link to={to} here={section === frame.section}>
                        {section}
                      </Link>
                    </li>
                  )
                )
              })}
            </ul>
          </>
        ))}
      </>
    )}
    <h2>Service</h2>
    <ul>
      <li>
        <Link to="/console" here={visit.path === '/console'}>
          Accounts
        </Link>
      </li>
      {visit.mayOpen('/console/team') && (
        <li>
          <Link to="/console/team" here={visit.path.startsWith('/console/team')}>
            Team
          </Link>
        </li>
      )}
      {visit.mayOpen('/console/audit-log') && (
        <li>
          <Link to="/console/audit-log" here={visit.path === '/console/audit-log'}>
            Audit log of all accounts
          </Link>
        </li>
      )}
    </ul>
  </>
)

/** Renders who is signed in, and the button that signs out. */
const SignedIn = (_: object, { csrf, member } = useVisit()) => (
  <form method="post" action="/console/sign-out" class="who">
    <input type="hidden" name="csrf" value={csrf} />
    <span>
      <a href="/console/me">
        <Data text={member.name} />
      </a>{' '}
      <small>{member.role}</small>
    </span>
    <button type="submit" class="plain">
      Sign out
    </button>
  </form>
)

/** Renders a page with its navigation. On a phone, the menu has what the header has no room for. */
export const Layout = (frame: Frame, visit = useVisit()) => (
  <Document title={frame.title}>
    <header class="top">
      <Home />
      {visit.account !== '' && <FindRecord account={visit.account} id={visit.query.record_id} />}
      <nav aria-label="Documentation">
        <a href="/docs/month">Docs</a>
      </nav>
      <SignedIn />
    </header>
    <div class="frame">
      <nav class="side" aria-label="Pages">
        <Nav {...frame} />
      </nav>
      <details class="menu">
        <summary>Menu</summary>
        <nav aria-label="Pages">
          <Nav {...frame} />
          <a href="/docs/month">Docs</a>
          <SignedIn />
        </nav>
      </details>
      <main id="main" tabindex={-1}>
        <h1>
          {frame.title
            .split(/(?<= )(\(\S{1,16}\))/)
            .map((part, i) => (i % 2 === 0 ? part : <bdi class="id">{part}</bdi>))}
        </h1>
        {frame.children}
      </main>
    </div>
  </Document>
)

/** A page without navigation: its title, and what stands below. */
export const AlonePage = ({ title, children }: { title: string; children?: Child }) => (
  <Document title={title}>
    <header class="top">
      <Home />
    </header>
    <div class="frame alone">
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  </Document>
)
