import { FILE_PARTS, PAGE_LIMITS, PAGE_PARTS } from '../../../src/commission/export/limits.ts'
import { type Answer, PAGE_HEADERS } from './operation.ts'
import { TEXT } from './shapes.ts'

// Statements as CSV and as printable pages, which `Accept` asks for.

const EXPORT_HEADERS = [
  ...PAGE_HEADERS,
  'Content-Disposition',
  'Content-Security-Policy',
  'Referrer-Policy',
]

const csv = (...rows: readonly string[]) => ({
  'text/csv': { schema: TEXT, example: rows.map((row) => `${row}\r\n`).join('') },
})

const html = (title: string) => ({
  'text/html': {
    schema: TEXT,
    example: `<!doctype html>\n<html lang="en">\n<head><title>${title}</title></head>\n…\n</html>\n`,
  },
})

const ID = 'stm_3f1c52a9d0e84b7796c1d20b'
const HASH = '6b1f0e4d9a2c7358'.repeat(4)

/** Describes the formats of a list of statements beside JSON. */
export const LIST_EXPORTS: Pick<Answer, 'also' | 'headers'> = {
  headers: EXPORT_HEADERS,
  also: {
    ...csv(
      'id,affiliate_id,plan,period,status,currency,opening,lines_sum,adjustments_sum,manual_sum,total,payable,closing,dropped,transferred,transferred_to,received,held_records,lines_total,adjustments_total,payable_on,approved_at,paid_reference,paid_on,computed_at,hash',
      `${ID},IB-07,standard-ib,2026-10,draft,USD,0.00,410.00,-12.00,0.00,398.00,398.00,0.00,0.00,,,,0,3,1,2026-11-14,,,,2026-11-01T06:00:00.000Z,${HASH}`,
    ),
    ...html('Statements of Demo Forex for October 2026'),
  },
}

/** Describes the formats of a statement beside JSON. */
export const STATEMENT_EXPORTS: Pick<Answer, 'also' | 'headers'> = {
  headers: EXPORT_HEADERS,
  also: {
    ...csv(
      'statement_id,affiliate_id,plan,period,currency,kind,id,rule,version,rule_kind,scope,base,units,measure,step,rate,carried_in,carried_out,capped,recouped,deficit,amount,of_period,of_line,causes,reason,reference,at',
      `${ID},IB-07,standard-ib,2026-10,USD,line,lin_3f1c52a9d0e84b7796c1d20b5e6f7a8b9c0d1e2f,majors,1,unit,affiliate,,82,,,5,0.00,0.00,0.00,0.00,0.00,410.00,,,,,,`,
    ),
    ...html('Statement of IB-07 for October 2026'),
  },
}

const COUNT = (n: number) => n.toLocaleString('en')

/** What the description of a list adds about its formats. */
export const LIST_FORMATS = `With \`Accept: text/csv\` it returns one row for each statement. With \`Accept: text/html\` it returns a page to print, with each statement and its lines on its own sheet: at most ${PAGE_LIMITS.statements} statements, or ${COUNT(PAGE_LIMITS.lines)} lines and adjustments, with a \`Link\` to the next page.`

/** What the description of a statement adds about its formats. */
export const STATEMENT_FORMATS = `With \`Accept: text/csv\` it returns one row for each line, adjustment and manual entry, of all parts from \`part\` on: at most ${FILE_PARTS}, with a \`Link\` to the next. With \`Accept: text/html\` it returns a page to print, with at most ${PAGE_PARTS} parts.`
