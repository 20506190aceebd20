// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	issuerName = "https://issuer.example"
	issuerFile = "issuer.pem"
)

// issuer makes and checks web identities (RS256).
type issuer struct{ key *rsa.PrivateKey }

type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience []string `json:"aud"`
	Expires  int64    `json:"exp"`
	ID       string   `json:"jti"`
}

func newIssuer(directory string) (*issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &issuer{key}, os.WriteFile(filepath.Join(directory, issuerFile), text, 0o600)
}

func readIssuer(directory string) (*issuer, error) {
	text, err := os.ReadFile(filepath.Join(directory, issuerFile))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the issuer's key is no PEM")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	return &issuer{key}, err
}

func mint(directory, subject, audience, lifetime string) error {
	who, err := readIssuer(directory)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(lifetime, 10, 64)
	if err != nil {
		return err
	}
	text, err := who.sign(claims{issuerName, subject, []string{audience}, time.Now().Unix() + seconds, random("J", 8)})
	if err == nil {
		fmt.Println(text)
	}
	return err
}

func (i *issuer) sign(content claims) (string, error) {
	payload, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(payload)
	digest := sha256.Sum256([]byte(text))
	value, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	return text + "." + encode(value), err
}

func (i *issuer) check(text, audience string) error {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return errors.New("InvalidIdentityToken: no JWT")
	}
	value, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return errors.New("InvalidIdentityToken: its signature is no base64url")
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&i.key.PublicKey, crypto.SHA256, digest[:], value) != nil {
		return errors.New("InvalidIdentityToken: its signature is not the issuer's")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return errors.New("InvalidIdentityToken: its claims are no base64url")
	}
	var content claims
	if err := json.Unmarshal(payload, &content); err != nil {
		return err
	}
	if content.Expires <= time.Now().Unix() {
		return errors.New("ExpiredTokenException: Token expired")
	}
	if !slices.Contains(content.Audience, audience) {
		return errors.New("InvalidIdentityToken: Incorrect token audience")
	}
	return nil
}
