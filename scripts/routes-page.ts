// Generates docs/routes.md from the API descriptions: every route of every service with what it does and the parameters of its query.
import { z } from 'zod';

const preface = `# Routes

[Documentation](README.md) › Routes · [which credential, which header](credentials.md#which-credential-which-header)

Every route of every service. Bodies, answers and examples: \`/swagger\` of the service, or [its OpenAPI file](openapi). This page is generated from them (\`npm run generate\`).
`;

const Operation = z.object({ summary: z.string(), parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]) });
const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

function section(name: string, text: string): string {
  const rows = Object.entries(Description.parse(JSON.parse(text)).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary, parameters }]) => {
      const query = parameters.flatMap((parameter) => (parameter.in === 'query' ? `\`${parameter.name}\`` : []));
      return `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${query.join(', ')} |`;
    }),
  );
  return [`## ${name}`, '', '| request | what it does | query |', '|---|---|---|', ...rows, ''].join('\n');
}

/** @param descriptions path of an OpenAPI file → its content @returns path in the repository → content */
export function routesFile(descriptions: Readonly<Record<string, string>>): Record<string, string> {
  const sections = Object.entries(descriptions).map(([path, text]) => section(path.replace(/^.*\/|\.json$/g, ''), text));
  return { 'docs/routes.md': [preface, ...sections].join('\n') };
}
