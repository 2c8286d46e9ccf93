// The import page shows the first rows of a list correctly, however the file is formatted.
import { expect, test } from 'vitest'
import { firstRows, guessColumns } from '../../console/src/first-rows.ts'

test.each([
  [
    'a,b\n1,"x, ""y""\nz"\n2,\n',
    true,
    {
      columns: ['a', 'b'],
      rows: [
        ['1', 'x, "y"\nz'],
        ['2', ''],
      ],
    },
  ],
  [
    '\uFEFF"a";"b"\r\n1;2\r\n3;4',
    true,
    {
      columns: ['a', 'b'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    },
  ],
  ['a\tb\n1\t2\n3\t4', false, { columns: ['a', 'b'], rows: [['1', '2']] }],
  ['a,b\n1,"cut', false, { columns: ['a', 'b'], rows: [] }],
  ['', true, { columns: [], rows: [] }],
  [
    '{"a":1,"b":{"c":"}\\""}}\n{"a":2,"d":[1]}\n{"a":',
    false,
    {
      columns: ['a', 'b.c', 'd'],
      rows: [
        ['1', '}"', ''],
        ['2', '', '[1]'],
      ],
    },
  ],
  ['[ {"a": 1},\n {"a": 2} ]', true, { columns: ['a'], rows: [['1'], ['2']] }],
])('the first rows of %j', (head, complete, expected) => {
  expect(firstRows(head, complete)).toEqual(expected)
})

test('columns are detected by name', () => {
  expect(guessColumns(['name', 'set', 'number', 'eur_price', 'cardmarket_url', 'last_updated'])).toEqual({
    price: 'eur_price',
    name: 'name',
    set: 'set',
    number: 'number',
    updated_at: 'last_updated',
  })
})
