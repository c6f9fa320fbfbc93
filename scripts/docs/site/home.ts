import { html } from './html.ts'
import { schemaFiles } from './llms.ts'
import { inline } from './markdown.ts'
import type { Spec } from './spec.ts'

/** The main destinations of the home page. */
const DESTINATIONS = [
  {
    at: '/docs/start',
    title: 'Guide',
    description: 'From credentials to the first reconciled day, step by step.',
  },
  {
    at: '/docs/month',
    title: 'Console',
    description: 'A month of commissions, from the first record to the payment.',
  },
  {
    at: '/docs/reference',
    title: 'API reference',
    description: 'Every operation with its parameters, answers and a sample.',
  },
  { at: '/docs/errors', title: 'Errors', description: 'Every error code, its cause and its fix.' },
  { at: '/openapi.json', title: 'OpenAPI 3.1', description: 'The API description for your tools.' },
  { at: '#schemas', title: 'JSON Schemas', description: 'Validate records before you send them.' },
  {
    at: '/llms.txt',
    title: 'llms.txt',
    description: 'All pages as Markdown, for language models.',
  },
]

/** What the two readers of the home page do with the service. */
const READERS = [
  {
    title: 'You send records',
    promise:
      'Every valid record is stored exactly once, however often you repeat a request. If a record is wrong, the response names the record, the field and the reason.',
    at: '/docs/start',
    action: 'Send the first record',
  },
  {
    title: 'You pay affiliates',
    promise:
      'See what you owe this month, approve it, and pay it. Each amount leads to its rule and its records, and each record that earns nothing says why.',
    at: '/docs/month',
    action: 'See a month in the console',
  },
]

/**
 * The statement that the home page explains: that of IB-07 for March 2026 of the demo, which the page
 * `/docs/statements` follows from its records to the last cent.
 */
const LINES = [
  {
    amount: '200.00',
    rule: '200 EUR once, for a customer who deposits 500 EUR within 30 days.',
    records:
      'C-3301 deposited 562.83 EUR by 18 March: 300 USD and 350 USD at the rates of their days.',
  },
  {
    amount: '520.00',
    rule: '5 EUR for each lot, from 100 lots in the month on.',
    records: 'C-3301 traded 64 lots of EURUSD, and C-3302 40 lots of gold: 104 lots.',
  },
  {
    amount: '102.00',
    rule: '30 % of the spread and the commission, after costs.',
    records: 'Both paid 300 EUR of spread and 50 EUR of commission, of which 10 EUR are costs.',
  },
  {
    amount: '7.20',
    rule: '10 % of what affiliates directly below earn.',
    records: 'IB-08 earned 72 EUR.',
  },
]

const explained = html`<figure class="explained">
<figcaption><strong>Affiliate IB-07, March 2026</strong> To pay by 14 April 2026</figcaption>
<table>
<thead><tr><th scope="col">Amount</th><th scope="col">The rule</th><th scope="col">The records</th></tr></thead>
<tbody>
${LINES.map(
  ({
    amount,
    rule,
    records,
  }) => html`<tr><th scope="row">${amount} EUR</th><td>${rule}</td><td>${records}</td></tr>
`,
)}</tbody>
<tfoot><tr><th scope="row">829.20 EUR</th><td colspan="2">The sum. <a href="/docs/statements">Check each figure by hand</a></td></tr></tfoot>
</table>
</figure>
`

/** Renders the home page: what the service does for its readers, and links to everything else. */
export function home({ info }: Spec) {
  return html`<h1>What you owe your affiliates, <span>and which records say so</span></h1>
<p class="lead">Trading firms, forex brokers and iGaming brands send ${info.title} their customers, transactions
and daily activity. It computes what their affiliates and introducing brokers are owed.</p>
<div class="readers">
${READERS.map(
  ({ title, promise, at, action }) => html`<section><h2>${title}</h2>
<p>${promise}</p>
<p><a class="button" href="${at}">${action}</a></p></section>
`,
)}</div>
${explained}<h2 id="documentation">Documentation</h2>
<ul class="doors">
${DESTINATIONS.map(
  ({ at, title, description }) =>
    html`<li><a href="${at}"><strong>${title}</strong> ${description}</a></li>
`,
)}</ul>
<h2 id="schemas">JSON Schemas</h2>
<ul class="contents">
${schemaFiles().map(
  ({ at, title, description }) => html`<li><a href="${at}">${title}</a> ${inline(description)}</li>
`,
)}</ul>
`
}
