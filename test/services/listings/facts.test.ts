// Routing keys, eircodes and energy grades.
import { expect } from 'chai';
import { energyGrades, gradesFrom, readEircode, readGrade, readRoutingKey } from '../../../services/listings/contract.ts';
import { NewProperty } from '../../../services/listings/new-property.ts';
import { listing } from './service.ts';

const inUse = `A41 A42 A45 A63 A67 A75 A81 A82 A83 A84 A85 A86 A91 A92 A94 A96 A98 C15 D01 D02 D03 D04 D05 D06 D07 D08 D09 D10 D11 D12 D13 D14
  D15 D16 D17 D18 D20 D22 D24 D6W E21 E25 E32 E34 E41 E45 E53 E91 F12 F23 F26 F28 F31 F35 F42 F45 F52 F56 F91 F92 F93 F94 H12 H14 H16 H18 H23 H53
  H54 H62 H65 H71 H91 K32 K34 K36 K45 K56 K67 K78 N37 N39 N41 N91 P12 P14 P17 P24 P25 P31 P32 P36 P43 P47 P51 P56 P61 P67 P72 P75 P81 P85 R14 R21
  R32 R35 R42 R45 R51 R56 R93 R95 T12 T23 T34 T45 T56 V14 V15 V23 V31 V35 V42 V92 V93 V94 V95 W12 W23 W34 W91 X35 X42 X91 Y14 Y21 Y25 Y34 Y35`
  .split(/\s+/)
  .filter((key) => key !== '');

describe('a routing key', () => {
  it('is each of the 139 in use', () => {
    expect(inUse).to.have.length(139);
    for (const key of inUse) expect(readRoutingKey(key)).to.equal(key);
  });

  it('is recognised by the pattern, not by the list', () => {
    expect(readRoutingKey('A65')).to.equal('A65');
  });

  it('comes in any case and goes out in upper case', () => {
    expect([' d02', 'd6w', 'D6w '].map(readRoutingKey)).to.deep.equal(['D02', 'D6W', 'D6W']);
  });

  for (const text of ['', 'B01', 'G01', 'I01', 'J01', 'L01', 'M01', 'O01', 'Q01', 'S01', 'U01', 'Z01', 'D2', 'D022', 'DD2', 'D7W', 'A6W', 'D٠٢'])
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(readRoutingKey(text)).to.equal(undefined);
    });
});

describe('an eircode', () => {
  it('goes out in upper case, with a space behind its routing key', () => {
    for (const text of ['D02X285', 'd02 x285', ' D02 X285 ']) expect(readEircode(text)).to.equal('D02 X285');
    expect(readEircode('d6wxy00')).to.equal('D6W XY00');
  });

  for (const text of ['', 'D02', 'D02 X28', 'D02 X2855', 'D02  X285', 'B02 X285', 'D02 X28B', 'D02-X285'])
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(readEircode(text)).to.equal(undefined);
    });

  it('gives the routing key where there is none', () => {
    expect(NewProperty.parse(listing('a', { eircode: 'd02x285' }))).to.include({ eircode: 'D02 X285', routingKey: 'D02' });
    expect(NewProperty.parse(listing('a', { eircode: 'd02x285', routingKey: 'd04' }))).to.include({ routingKey: 'D04' });
    expect(NewProperty.parse(listing('a')).routingKey).to.equal(undefined);
  });
});

describe('an energy grade', () => {
  it('is one of fifteen or Exempt, best first', () => {
    expect(energyGrades.join(' ')).to.equal('A1 A2 A3 B1 B2 B3 C1 C2 C3 D1 D2 E1 E2 F G Exempt');
  });

  it('comes in any case; an unknown text is none', () => {
    expect(['b2', ' EXEMPT ', 'H', '', 'A4'].map(readGrade)).to.deep.equal(['B2', 'Exempt', undefined, undefined, undefined]);
  });

  it('is met by itself and by every better one; Exempt by all, and only Exempt by Exempt', () => {
    expect(gradesFrom('B1')).to.deep.equal(['A1', 'A2', 'A3', 'B1']);
    expect(gradesFrom('G')).to.have.length(15).and.not.to.include('Exempt');
    expect(gradesFrom('Exempt')).to.deep.equal(energyGrades);
  });
});
