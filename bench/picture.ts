import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { fine } from './chapter.ts'
import { PHASES } from './contestants.ts'
import type { Beside } from './report.ts'

/** Blue, orange and green that differ on white, on black, and for colour-blind readers. */
const COLOURS = ['#4a90d9', '#d9822b', '#2f9e6e']

/** The background is transparent: pages may be light or dark. */
const STYLE = 'svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}'

const SVG = 'http://www.w3.org/2000/svg'

const words = ({ phase, middle }: { phase: string; middle: number }) => `${phase} ${fine(middle)}`

/** Draws the ratios as an SVG: a point for each, and a line for the middle half of the bulks. */
export function picture(beside: readonly Beside[]): string {
  const { document } = parseHTML('<!doctype html><body></body>')
  const points = beside.flatMap(({ peer, ratios }) =>
    PHASES.map((phase) => ({ peer, phase, ...ratios[phase] })),
  )
  const range = [
    Math.min(0.5, ...points.map(({ least }) => least)) / 2.2,
    Math.max(2, ...points.map(({ most }) => most)) * 2.2,
  ]
  const place = { fy: 'peer', y: 'phase' }
  const svg = Plot.plot({
    document,
    width: 760,
    height: 70 + beside.length * 56,
    marginLeft: 160,
    marginRight: 30,
    marginBottom: 40,
    style: { fontSize: '12px' },
    x: {
      type: 'log',
      base: 2,
      domain: range,
      label: '← slower     records a second of ours ÷ those of     faster →',
      labelAnchor: 'center',
      ticks: [0.125, 0.25, 0.5, 1, 2, 4, 8, 16].filter((n) => n > range[0]! && n < range[1]!),
      tickFormat: String,
      grid: true,
    },
    y: { axis: null, domain: PHASES, padding: 0.3 },
    fy: { label: null, domain: beside.map(({ peer }) => peer), axis: 'left', padding: 0.15 },
    color: { domain: PHASES, range: COLOURS },
    marks: [
      Plot.ruleX([1]),
      Plot.link(points, { ...place, x1: 'least', x2: 'most', stroke: 'phase', strokeWidth: 3 }),
      Plot.dot(points, { ...place, x: 'middle', fill: 'phase', r: 4.5 }),
      // Labels stay on their side of the line at 1.
      Plot.text(
        points.filter(({ middle }) => middle >= 1),
        {
          ...place,
          x: 'most',
          text: words,
          textAnchor: 'start',
          dx: 9,
        },
      ),
      Plot.text(
        points.filter(({ middle }) => middle < 1),
        {
          ...place,
          x: 'least',
          text: words,
          textAnchor: 'end',
          dx: -9,
        },
      ),
    ],
  })
  for (const [name, text] of [
    ['desc', points.map((point) => `${point.peer}: ${words(point)}`).join('; ')],
    ['title', 'Records a second of the service, in bulks of 1000, beside others'],
  ] as const) {
    const element = document.createElementNS(SVG, name)
    element.textContent = text
    svg.prepend(element)
  }
  svg.setAttribute('role', 'img')
  svg.setAttribute('xmlns', SVG)
  svg.querySelector('style')!.textContent += STYLE
  return `${svg.outerHTML}\n`
}
