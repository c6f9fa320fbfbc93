import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { findTest, isSkippable } from './contract/titles.ts'

// test/contract.md names the tests of every clause of the contract.

const table = readFileSync('test/contract.md', 'utf8')
const ROW = /^\| ((?:1[0-9]|[1-9A])\.\d+) \| (.+) \| (.*) \|$/

/** The sections of commissions (§10–§16), which `../shared/commissions.md` has. */
const COMMISSIONS = ['10', '11', '12', '13', '14', '15']

/** The numbered paragraphs of §16, which stand in the sections that they clarify. */
const CLARIFICATIONS = 34

const rows = table.split('\n').flatMap((line) => {
  const [, clause, text, tests] = ROW.exec(line) ?? []
  return clause ? [{ clause, text: text!, tests: tests!.split('<br>').filter(Boolean) }] : []
})
const bySection = Map.groupBy(rows, ({ clause }) => clause.split('.')[0]!)

/** The text of a section without the marks of Markdown: lists, tables, code and line breaks. */
const plain = (text: string) =>
  text
    .replace(/^```.*$/gm, '')
    .replace(/^(?:- |\d\. )/gm, '')
    .replace(/[|\\`*]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** A section of the contract, without the headings of its tables. */
function sectionOf(contract: string, section: string): string {
  const body = contract.split(new RegExp(`^## ${section}\\. .*$`, 'm'))[1] ?? ''
  const own = body.split(/^## |^§10/m)[0]!
  return plain(own.replace(/^\|.*\|\n\|[ |-]+\|$/gm, ''))
}

/** Returns where two texts first differ, with some words before it; null if they are the same. */
function firstDifference(text: string, expected: string): string | null {
  if (text === expected) return null
  const at = [...expected].findIndex((char, i) => char !== text[i])
  const from = Math.max(0, (at < 0 ? expected.length : at) - 60)
  return `the contract has “${expected.slice(from, from + 160)}”, the table “${text.slice(from, from + 160)}”`
}

describe('contract.md', () => {
  test('has the sections 1 to 9, those of commissions, 17 to 19 and A, numbered without a gap', () => {
    const lines = table.split('\n').filter((line) => /^\| [\dA-Z]+\./.test(line))
    assert.equal(rows.length, lines.length)
    assert.deepEqual([...bySection.keys()], [...'123456789', ...COMMISSIONS, '17', '18', '19', 'A'])
    for (const [section, clauses] of bySection) {
      assert.deepEqual(
        clauses.map(({ clause }) => clause),
        clauses.map((_, i) => `${section}.${i + 1}`),
      )
    }
  })

  test('has a test for every clause, and each exists and is never skipped', () => {
    const wrong = rows.flatMap(({ clause, tests }) =>
      tests.length === 0
        ? [`${clause} has no test`]
        : tests.flatMap((cited) => flaw(clause, cited)),
    )
    assert.deepEqual(wrong, [])
  })

  test('has every clarification of §16', () => {
    const named = new Set(rows.flatMap(({ text }) => /§16\.(\d+)/.exec(text)?.[1] ?? []))
    const numbers = Array.from({ length: CLARIFICATIONS }, (_, i) => String(i + 1))
    assert.deepEqual(
      numbers.filter((n) => !named.has(n)),
      [],
    )
  })

  const contract = '../shared/contract.md'
  // The contract lies beside the repository only where it is worked on.
  if (existsSync(contract)) {
    test('has every sentence of the contract, in its order and in its words', () => {
      const text = readFileSync(contract, 'utf8')
      const differences = [...'123456789'].flatMap((section) => {
        const own = plain((bySection.get(section) ?? []).map((row) => row.text).join(' '))
        const difference = firstDifference(own, sectionOf(text, section))
        return difference ? [`§${section}: ${difference}`] : []
      })
      assert.deepEqual(differences, [])
    })

    test('has every sentence of the fraud review (§17), in its order and in its words', () => {
      const text = readFileSync('../shared/fraud.md', 'utf8')
      const own = plain((bySection.get('17') ?? []).map((row) => row.text).join(' '))
      const body = text.replace(/^#.*$/gm, '').replace(/^\| kind \|.*\n\|[ |-]+\|$/gm, '')
      assert.equal(firstDifference(own, plain(body)), null)
    })

    test('has every sentence on affiliates as callers (§18), in its order and in its words', () => {
      const text = readFileSync('../shared/affiliates.md', 'utf8')
      const own = plain((bySection.get('18') ?? []).map((row) => row.text).join(' '))
      const body = text.replace(/^#.*$/gm, '').replace(/^\| endpoint \|.*\n\|[ |-]+\|$/gm, '')
      assert.equal(firstDifference(own, plain(body)), null)
    })
  }
})

/** Returns what is wrong with a cited test. */
function flaw(clause: string, cited: string): string[] {
  const [, file = '', title = ''] = /^`([\w/-]+): (.+)`$/.exec(cited) ?? []
  const path = `${file.includes('/') ? file : `test/${file}`}.test.ts`
  if (!existsSync(path)) return [`${clause}: there is no file ${path}`]
  const source = readFileSync(path, 'utf8')
  const found = findTest(source, title.split(' > '))
  if (found === null) return [`${clause}: ${path} has no test "${title}"`]
  if (found === 'ambiguous') return [`${clause}: ${path} has several tests "${title}"`]
  return isSkippable(source, found) ? [`${clause}: ${path} may skip "${title}"`] : []
}
