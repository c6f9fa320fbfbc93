import { html } from 'hono/html'
import catalogue from '../catalogues/invoice.json' with { type: 'json' }
import { wordsOf } from '../commission/words/words.ts'
import { type Language, messagesByLanguage } from '../platform/languages.ts'
import type { Invoice } from './invoices.ts'

// The document of an invoice (§20.5): what Article 226 of Directive 2006/112/EC asks for, on one page to print.

type InvoiceWords = Readonly<Record<keyof typeof catalogue, string>>

/** The words of invoices. A correction is never called Gutschrift, which names self-billing in Germany. */
const WORDS = messagesByLanguage<keyof InvoiceWords, string>(catalogue)

/** What the UK asks of self-billed invoices with VAT. @see VAT Notice 700/62, section 4 */
const UK_SENTENCE = 'The VAT shown is your output tax due to HMRC.'

const fill = (text: string, value: string) => text.replace('{}', value)

/** Returns what a document says of VAT. */
function vatSentence({ treatment, exempt_reason, rate, buyer }: Invoice, words: InvoiceWords) {
  if (treatment === 'exempt') return fill(words.exempt, exempt_reason ?? '')
  if (treatment !== 'domestic') return words[treatment]
  return buyer?.address.country === 'GB' && rate ? UK_SENTENCE : null
}

/** Writes the document of an invoice or of a correction. */
export function writeDocument(invoice: Invoice, language: Language) {
  const words = WORDS[language]
  const speech = wordsOf(language)
  const { number, corrects, corrected_by, period, rate, taxable } = invoice
  const money = (amount: string) => speech.money(amount, invoice.currency)
  const title = corrects ? words.correction : words.mark
  const facts = [
    [words.number, number],
    [words.issued, speech.day(invoice.issued_on)],
    [words.supplied, speech.period(period)],
    ...(corrects ? [[words.corrects, corrects]] : []),
  ]
  const partyOf = (name: string, party: Invoice['seller']) => {
    const { street, building, postcode, city, country } = party?.address ?? {}
    const lines = [
      party?.name,
      [street, building].filter(Boolean).join(' '),
      [postcode, city].filter(Boolean).join(' '),
      country && speech.country(country),
      party?.vat_id && `${words.vat_id} ${party.vat_id}`,
    ].filter(Boolean)
    return html`<section><h2>${name}</h2>
<address>${lines.map((line) => html`<bdi>${line}</bdi><br>`)}</address></section>`
  }
  const lines = invoice.lines.map(({ kind, text, amount }) => {
    const about = kind === 'earned' ? speech.period(period) : (text ?? '')
    const what = kind === 'manual' ? about : fill(words[kind], about)
    return html`<tr><td><bdi>${what}</bdi></td><td>${money(amount)}</td></tr>`
  })
  const vat =
    taxable && fill(words.vat, speech.percent(`${rate}`)).replace('{base}', money(taxable))
  const sums = [
    [words.net, invoice.net],
    ...(vat ? [[vat, invoice.vat]] : []),
    [words.total, invoice.total],
  ].map(
    ([name, amount = '']) => html`<tr><th scope="row">${name}</th><td>${money(amount)}</td></tr>`,
  )
  const objections = invoice.objections.map(
    ({ at, from, text }) =>
      html`<section><h2>${words[from]}, ${speech.day(at.slice(0, 10))}</h2><p><bdi>${text}</bdi></p></section>`,
  )
  const sentences = [
    vatSentence(invoice, words),
    corrected_by && fill(words.corrected_by, corrected_by),
  ].filter(Boolean)
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} ${number}</title>
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/invoice.css">
</head>
<body><main>
<h1>${title}</h1>
<dl>${facts.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}</dl>
<div class="parties">
${partyOf(words.seller, invoice.seller)}
${partyOf(words.buyer, invoice.buyer)}
</div>
<table>
<thead><tr><th scope="col">${words.what}</th><th scope="col">${words.amount}</th></tr></thead>
<tbody>${lines}</tbody>
<tfoot>${sums}</tfoot>
</table>
${sentences.map((sentence) => html`<p>${sentence}</p>`)}
${objections}
</main></body>
</html>`
}
