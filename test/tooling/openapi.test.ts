// The API descriptions in docs/openapi: what readers, Swagger UI and generators of clients need of every operation.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';

const directory = new URL('../../docs/openapi/', import.meta.url);

const Schema = z.looseObject({});
type Schema = z.output<typeof Schema>;
const Content = z.record(z.string(), z.object({ schema: Schema.optional(), example: z.unknown().optional() }));
const Operation = z.object({
  tags: z.array(z.string()).length(1),
  operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
  summary: z.string(),
  description: z.string().optional(),
  parameters: z.array(z.object({ name: z.string(), description: z.string().optional(), schema: Schema })).default([]),
  security: z.array(Schema),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content.default({}) })),
});
const Document = z.object({
  info: z.object({ title: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema), securitySchemes: z.record(z.string(), z.looseObject({ description: z.string().min(1) })) }),
});
type Operation = z.output<typeof Operation>;

const alternativesOf = (schema: Schema): unknown[] =>
  z
    .array(z.unknown())
    .default([])
    .parse(schema['anyOf'] ?? schema['oneOf']);

/** Paths of the members without a description. A reference needs none: each named schema has one. */
function undescribedIn(value: unknown, path: string): string[] {
  const schema = Schema.safeParse(value).data;
  if (!schema) return [];
  const members = Object.entries(z.record(z.string(), Schema).default({}).parse(schema['properties']));
  const alternatives = alternativesOf(schema);
  return [
    ...members.flatMap(([name, member]) => [...(isDescribed(member) ? [] : [`${path}.${name}`]), ...undescribedIn(member, `${path}.${name}`)]),
    ...[schema['items'], schema['additionalProperties'], ...alternatives].flatMap((one) => undescribedIn(one, path)),
  ];
}
const isDescribed = (member: Readonly<Record<string, unknown>>): boolean =>
  typeof member['description'] === 'string' ||
  typeof member['$ref'] === 'string' ||
  z
    .array(Schema)
    .default([])
    .parse(member['anyOf'])
    .some((one) => typeof one['$ref'] === 'string');

type Placed = { readonly place: string; readonly schema: Schema };

/** A schema and those within it, each with its place. */
function schemasIn(value: unknown, place: string): Placed[] {
  const schema = Schema.safeParse(value).data;
  if (!schema) return [];
  const members = Object.entries(z.record(z.string(), z.unknown()).default({}).parse(schema['properties']));
  return [
    { place, schema },
    ...members.flatMap(([name, member]) => schemasIn(member, `${place}.${name}`)),
    ...[schema['items'], schema['additionalProperties'], ...alternativesOf(schema)].flatMap((part) => schemasIn(part, `${place}[]`)),
  ];
}

/** Schemas of what goes in and out, with where they are. */
function bodiesOf({ operationId, requestBody, responses }: Operation) {
  const contents = [{ where: `${operationId} body`, content: requestBody?.content ?? {} }];
  for (const [status, { content }] of Object.entries(responses)) contents.push({ where: `${operationId} ${status}`, content });
  return contents.flatMap(({ where, content }) =>
    Object.entries(content).flatMap(([mediaType, { schema, example }]) => (schema ? [{ where, mediaType, schema, example }] : [])),
  );
}

for (const file of readdirSync(directory)) {
  const text = readFileSync(new URL(file, directory), 'utf8');
  const json: unknown = JSON.parse(text);

  describe(`docs/openapi/${file}`, () => {
    const { info, tags, paths, components } = Document.parse(json);
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const bodies = operations.flatMap(bodiesOf);
    const definitions = z.record(z.string(), Schema).parse(JSON.parse(JSON.stringify(components.schemas).replaceAll('#/components/schemas/', '#/$defs/')));

    const target = (schema: Schema): Schema =>
      typeof schema['$ref'] === 'string' ? target(Schema.parse(components.schemas[schema['$ref'].replace(/^.*\//, '')])) : schema;

    /** As Swagger UI makes it of the parts. @throws for a part that it would have to invent */
    function exampleOf(given: Schema, where: string): unknown {
      const schema = target(given);
      const [first] = z.array(z.unknown()).default([]).parse(schema['examples']);
      if (first !== undefined) return first;
      const [choice] = z.array(z.unknown()).default([]).parse(schema['enum']);
      const simple = choice ?? schema['const'] ?? schema['default'];
      if (simple !== undefined) return simple;
      const alternative = z
        .array(Schema)
        .default([])
        .parse(schema['anyOf'] ?? schema['oneOf'])[0];
      if (alternative) return exampleOf(alternative, where);
      if (schema['type'] === 'array') return [exampleOf(Schema.parse(schema['items']), `${where}[]`)];
      if (schema['type'] === 'boolean') return true;
      const members = z.record(z.string(), Schema).optional().parse(schema['properties']);
      const further = schema['additionalProperties'];
      if (members) return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, exampleOf(member, `${where}.${name}`)]));
      if (typeof further === 'object' && further !== null) return { name: exampleOf(Schema.parse(further), `${where}.*`) };
      throw new Error(`${where} has no example: ${JSON.stringify(schema)}`);
    }
    function expectValid(schema: Schema, example: unknown, where: string): void {
      const { data, error } = z
        .fromJSONSchema({ ...z.looseObject({}).parse(JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))), $defs: definitions })
        .safeParse(example);
      if (error) throw new Error(`the example of ${where} is not as described:\n${z.prettifyError(error)}\n${JSON.stringify(data ?? example)}`);
    }

    it('has a title for people, and groups that are used and described', () => {
      expect(info.title).to.match(/^Signalbox [a-z ]+$/);
      expect([...new Set(operations.flatMap((operation) => operation.tags))]).to.have.members(tags.map(({ name }) => name));
      for (const { name, description } of tags) expect(description, name).not.to.equal('');
    });

    it('names each operation once, and says in a line of plain text what it does', () => {
      const ids = operations.map(({ operationId }) => operationId);
      expect(ids).to.deep.equal([...new Set(ids)]);
      for (const { operationId, summary } of operations) expect(summary, operationId).to.match(/^[^`\n]+$/);
    });

    it('describes every parameter', () => {
      for (const { operationId, parameters } of operations)
        for (const { name, description } of parameters) expect(description, `${operationId} ${name}`).to.be.a('string');
    });

    it('describes every operation and every member in a sentence', () => {
      const undescribed = operations.filter(({ description }) => !description).map(({ operationId }) => operationId);
      const members = Object.entries(components.schemas).flatMap(([name, schema]) => undescribedIn(schema, name));
      const schemas = Object.entries(components.schemas).flatMap(([name, { description }]) => (typeof description === 'string' ? [] : [name]));
      expect([...undescribed, ...schemas, ...members]).to.deep.equal([]);
    });

    it('names each object, and each enumeration that stands in two places, as generated clients take the names', () => {
      const places = Object.entries(components.schemas).flatMap(([name, schema]) => schemasIn(schema, name));
      const asked = operations.flatMap(({ operationId, parameters }) => parameters.flatMap(({ name, schema }) => schemasIn(schema, `${operationId} ${name}`)));
      const objects = places.filter(({ place, schema }) => schema['properties'] && !(place in components.schemas));
      expect(objects.map(({ place }) => place)).to.deep.equal([]);
      const enumerations = [...places, ...asked].filter(({ schema }) => Array.isArray(schema['enum']));
      const repeated = [...Map.groupBy(enumerations, ({ schema }) => JSON.stringify(schema['enum'])).values()].filter(({ length }) => length > 1);
      expect(repeated.map((same) => same.map(({ place }) => place))).to.deep.equal([]);
    });

    it('says of each operation whether it needs a credential', () => {
      for (const { operationId, security, responses } of operations) if (security.length > 0) expect(responses, operationId).to.have.property('401');
    });

    it('says of each credential where it comes from, of no two the same', () => {
      const descriptions = Object.values(components.securitySchemes).map(({ description }) => description);
      expect(descriptions).to.deep.equal([...new Set(descriptions)]);
    });

    it('names the schema of every JSON that goes in or out', () => {
      for (const { where, mediaType, schema } of bodies) {
        if (!mediaType.endsWith('json')) continue;
        const items = schema['type'] === 'array' ? Schema.parse(schema['items']) : schema;
        expect(items['$ref'] ?? items['type'], where).to.match(/^(#\/components\/schemas\/\w+|string)$/);
      }
    });

    it('has an example of every body and answer, which is as its schema says', () => {
      for (const { where, schema, example } of bodies) expectValid(schema, example ?? exampleOf(schema, where), where);
    });

    it('has examples in its schemas that are as these say', () => {
      for (const [name, schema] of Object.entries(components.schemas))
        for (const example of z.array(z.unknown()).default([]).parse(schema['examples'])) expectValid(schema, example, name);
    });

    it('leaves answers open to additions, and bounds no number by what JavaScript can count', () => {
      expect(text).to.not.include('"additionalProperties": false').and.to.not.include('9007199254740991');
    });
  });
}
