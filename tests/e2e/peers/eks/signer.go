// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	service    = "sts"
	timeFormat = "20060102T150405Z"
	algorithm  = "AWS4-HMAC-SHA256"
)

// keys as an SDK prints and reads them.
type keys struct {
	AccessKeyId, SecretAccessKey, SessionToken string
}

func (k keys) credentials() aws.Credentials {
	return aws.Credentials{AccessKeyID: k.AccessKeyId, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken}
}

func hash(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}

// sign prints the token, byte for byte as clients with this SDK send it.
func sign(ctx context.Context, host, region, cluster, when string) error {
	var key keys
	if err := json.NewDecoder(os.Stdin).Decode(&key); err != nil {
		return err
	}
	at, err := time.Parse(timeFormat, when)
	if err != nil {
		return err
	}
	target := "https://" + host + "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60"
	request, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	request.Header.Set("x-k8s-aws-id", cluster)
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, key.credentials(), request, hash(nil), service, region, at)
	if err != nil {
		return err
	}
	fmt.Println("k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed)))
	return nil
}

// signature is what a request claims about who signed it.
type signature struct {
	keyID, region, when, session, value string
	signed                              []string
}

func (s *signature) readCredential(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) != 5 || parts[3] != service || parts[4] != "aws4_request" {
		return fmt.Errorf("the credential %q", text)
	}
	if !strings.HasPrefix(s.when, parts[1]+"T") {
		return errors.New("the scope's date is not the request's")
	}
	s.keyID, s.region = parts[0], parts[2]
	return nil
}

func signatureOfHeader(header http.Header) (signature, error) {
	text, ok := strings.CutPrefix(header.Get("Authorization"), algorithm+" ")
	if !ok {
		return signature{}, errors.New("no authorization of version 4")
	}
	fields := map[string]string{}
	for _, field := range strings.Split(text, ", ") {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	found := signature{
		when:    header.Get("X-Amz-Date"),
		session: header.Get("X-Amz-Security-Token"),
		value:   fields["Signature"],
		signed:  strings.Split(fields["SignedHeaders"], ";"),
	}
	return found, found.readCredential(fields["Credential"])
}

func signatureOfQuery(query url.Values) (signature, error) {
	if query.Get("X-Amz-Algorithm") != algorithm {
		return signature{}, errors.New("no signature of version 4")
	}
	found := signature{
		when:    query.Get("X-Amz-Date"),
		session: query.Get("X-Amz-Security-Token"),
		value:   query.Get("X-Amz-Signature"),
		signed:  strings.Split(query.Get("X-Amz-SignedHeaders"), ";"),
	}
	return found, found.readCredential(query.Get("X-Amz-Credential"))
}

// check makes the signature again, by the SDK, and compares.
func (s signature) check(received *http.Request, body []byte, known keys, presigned bool) error {
	at, err := time.Parse(timeFormat, s.when)
	if err != nil {
		return err
	}
	if skew := time.Since(at); skew > 15*time.Minute || skew < -15*time.Minute {
		return errors.New("SignatureDoesNotMatch: the request's time is too far off")
	}
	if s.session != known.SessionToken {
		return errors.New("InvalidClientTokenId: the session token is not this key's")
	}
	if !slices.IsSorted(s.signed) || !slices.Contains(s.signed, "host") {
		return fmt.Errorf("the signed headers %v", s.signed)
	}
	query := received.URL.Query()
	for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Security-Token", "X-Amz-Signature"} {
		query.Del(name)
	}
	target := "https://" + received.Host + received.URL.Path + "?" + query.Encode()
	again, err := http.NewRequest(received.Method, target, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	again.ContentLength = 0
	for _, name := range s.signed {
		if name != "host" && !strings.HasPrefix(name, "x-amz-") {
			again.Header[http.CanonicalHeaderKey(name)] = received.Header.Values(name)
		}
	}
	return s.compare(again, body, known, at, presigned)
}

func (s signature) compare(again *http.Request, body []byte, known keys, at time.Time, presigned bool) error {
	ctx, signer := context.Background(), v4.NewSigner()
	wanted := ""
	if presigned {
		signed, _, err := signer.PresignHTTP(ctx, known.credentials(), again, hash(body), service, s.region, at)
		if err != nil {
			return err
		}
		parsed, err := url.Parse(signed)
		if err != nil {
			return err
		}
		wanted = parsed.Query().Get("X-Amz-Signature")
	} else {
		if err := signer.SignHTTP(ctx, known.credentials(), again, hash(body), service, s.region, at); err != nil {
			return err
		}
		made, err := signatureOfHeader(again.Header)
		if err != nil {
			return err
		}
		wanted = made.value
	}
	if wanted != s.value {
		return errors.New("SignatureDoesNotMatch")
	}
	return nil
}
